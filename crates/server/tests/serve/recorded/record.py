"""Records what OpenShift's machine-config-server answers for the configs here; see README.md.

usage: record.py PATH-OF-MACHINE-CONFIG-SERVER, in a network namespace of its own, since it listens on all addresses
"""

import hashlib, http.client, json, os, shutil, subprocess, sys, tempfile, time
from urllib.parse import unquote

HERE = os.path.dirname(os.path.abspath(__file__))
VERSIONS = ["2.2.0", "3.1.0", "3.2.0", "3.3.0", "3.4.0", "3.5.0"]
IN_FULL = ["2.2.0", "3.5.0"]
APPENDED = [
    "/etc/machine-config-daemon/node-annotations.json",
    "/etc/kubernetes/kubeconfig",
    "/etc/mcs-machine-config-content.json",
    "/etc/ignition-machine-config-encapsulated.json",
]


def ask(accept):
    client = http.client.HTTPConnection("127.0.0.1", 22624)
    client.request("GET", "/config/master", headers={"Accept": accept})
    answer = client.getresponse()
    return answer.status, answer.read()


def apart(body):
    config, contents = json.loads(body), {}
    for file in config["storage"]["files"]:
        if file["path"] in APPENDED:
            content = unquote(file["contents"].pop("source").removeprefix("data:,"))
            contents[file["path"]] = json.loads(content) if file["path"].endswith(".json") else content
    return config, contents


def recorded():
    answers, before = {}, None
    for version in VERSIONS:
        status, body = ask(f"application/vnd.coreos.ignition+json;version={version}, */*;q=0.1")
        answers[version] = {"status": status}
        if status != 200:
            continue
        answers[version]["sha256"] = hashlib.sha256(body).hexdigest()
        if version in IN_FULL:
            config, contents = apart(body)
            answers[version]["config"] = config
            if contents != before:
                answers[version]["appended"] = before = contents
    return answers


with tempfile.TemporaryDirectory() as base:
    shutil.copytree(HERE, base, dirs_exist_ok=True)
    os.mkdir(f"{base}/machine-pools")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=x", "-keyout", f"{base}/key", "-out", f"{base}/crt"], check=True, stderr=subprocess.DEVNULL)
    server = subprocess.Popen([sys.argv[1], "bootstrap", "--server-basedir", base, "--bootstrap-kubeconfig", f"{HERE}/kubeconfig", "--cert", f"{base}/crt", "--key", f"{base}/key"], stderr=subprocess.DEVNULL)
    time.sleep(2)
    try:
        answers = {}
        for file in sorted(os.listdir(f"{HERE}/machine-configs")):
            case = file.removesuffix(".yaml")
            with open(f"{base}/machine-pools/master.yaml", "w") as pool:
                pool.write(f"status: {{configuration: {{name: {case}}}}}\n")
            answers[case] = recorded()
        with open(f"{HERE}/answers.json", "w") as file:
            lines = [f"{json.dumps(case)}: {json.dumps(answer, separators=(',', ':'), ensure_ascii=False)}" for case, answer in answers.items()]
            file.write("{\n" + ",\n".join(lines) + "\n}\n")
    finally:
        server.terminate()
        server.wait()
