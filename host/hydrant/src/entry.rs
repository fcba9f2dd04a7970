//! What else this program may have been started as, by itself.
//!
//! It knows both the jail and the engine, and is asked before anything else is.

/// To be called as the first statement of `main`: where this process was started to become the launcher of a jail, or to
/// compile inside of one, it does that, and the call does not return.
pub fn enter_if_asked() {
    hydrant_jail::enter_if_asked();
    crate::engine::compile_if_asked();
}
