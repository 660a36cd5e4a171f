//! How often something is measured, and in which order.

/// Returns how often to measure: `BOOTLACE_BENCH_ROUNDS` if it is set, else what is usual.
pub(crate) fn count(usual: usize) -> Result<usize, Box<dyn std::error::Error>> {
    let Ok(text) = std::env::var("BOOTLACE_BENCH_ROUNDS") else {
        return Ok(usual);
    };
    match text.parse() {
        Ok(rounds) if rounds > 0 => Ok(rounds),
        _ => Err(format!("BOOTLACE_BENCH_ROUNDS={text:?} is not a positive number").into()),
    }
}

/// Returns in which order contestants run in a round. Each of `n` is first as often as any other, and
/// the order is reversed in every other round.
pub(crate) fn order(round: usize, n: usize) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.rotate_left(round / 2 % n.max(1));
    if round % 2 == 1 {
        order.reverse();
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_always_first() {
        for n in 1..=4 {
            let orders: Vec<Vec<usize>> = (0..2 * n).map(|round| order(round, n)).collect();
            for contestant in 0..n {
                let first = orders.iter().filter(|order| order[0] == contestant);
                assert_eq!(first.count(), 2, "{orders:?}");
            }
        }
        assert_eq!(order(0, 2), [0, 1]);
        assert_eq!(order(1, 2), [1, 0]);
    }
}
