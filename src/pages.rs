//! Long lists: counted when they are found, and handed over page by page, so that they do not hold the event loop.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::vec::IntoIter;

/// Rows that cross at once: about a millisecond's work for the event loop.
pub(crate) const PAGE: usize = 256;

/// What was found and has not crossed yet.
pub(crate) struct Found<T>(Arc<Mutex<IntoIter<T>>>);

impl<T> Default for Found<T> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<T> Clone for Found<T> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<T> Found<T> {
    fn lock(&self) -> MutexGuard<'_, IntoIter<T>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// In place of what is left; gives how many there are.
    pub(crate) fn keep(&self, all: Vec<T>) -> u32 {
        let count = u32::try_from(all.len()).unwrap_or(u32::MAX);
        *self.lock() = all.into_iter();
        count
    }

    /// The next page; empty at the end.
    pub(crate) fn take<R: From<T>>(&self) -> Vec<R> {
        self.lock().by_ref().take(PAGE).map(Into::into).collect()
    }
}
