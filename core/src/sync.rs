//! Flushing several files or folders: at the same time, for a disk takes what comes together in one go.

use rustix::io::Result;

/// Flushes that wait for the disk at once.
const AT_ONCE: usize = 8;

/// Runs `sync` for each; the results are in the same order.
pub(crate) fn each<T: Sync>(items: &[T], sync: impl Fn(&T) -> Result<()> + Sync) -> Vec<Result<()>> {
    if items.len() < 3 {
        return items.iter().map(sync).collect();
    }
    let share = items.len().div_ceil(AT_ONCE);
    std::thread::scope(|scope| {
        let parts: Vec<_> =
            items.chunks(share).map(|part| scope.spawn(|| part.iter().map(&sync).collect::<Vec<_>>())).collect();
        let joined = parts.into_iter().map(|part| part.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect()
    })
}

/// The same; the first failure, when there is one.
pub(crate) fn all<T: Sync>(items: &[T], sync: impl Fn(&T) -> Result<()> + Sync) -> Result<()> {
    each(items, sync).into_iter().collect()
}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn results_come_in_the_order_of_the_items() {
        for count in [0, 1, 2, 3, 8, 9, 100_i32] {
            let items: Vec<i32> = (0..count).collect();
            let results = each(&items, |item| if item % 3 == 1 { Err(Errno::IO) } else { Ok(()) });
            let failed: Vec<i32> =
                results.iter().zip(0..).filter(|(result, _)| result.is_err()).map(|(_, at)| at).collect();
            assert_eq!(failed, items.iter().copied().filter(|item| item % 3 == 1).collect::<Vec<_>>());
            assert_eq!(results.len(), items.len());
        }
    }
}
