//! A commit that fails or dies at each of its steps.
