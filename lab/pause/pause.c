/* Holds the namespaces of a pod: reaps what others leave, and ends when it is told to. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal) { _exit(signal == SIGINT ? 130 : 0); }

static void reap(int signal) {
    (void)signal;
    while (waitpid(-1, 0, WNOHANG) > 0) {
    }
}

int main(void) {
    struct sigaction on_end = {.sa_handler = end};
    struct sigaction on_child = {.sa_handler = reap, .sa_flags = SA_NOCLDSTOP};
    if (sigaction(SIGINT, &on_end, 0) || sigaction(SIGTERM, &on_end, 0) || sigaction(SIGCHLD, &on_child, 0))
        return 1;
    for (;;)
        pause();
}
