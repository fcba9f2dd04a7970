//! Archives that others made: hostile ones, and good ones that were changed at random.

mod hostile;
mod mutated;
