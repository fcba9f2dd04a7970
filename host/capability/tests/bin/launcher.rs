//! The launcher of the jails that tests start: a test binary has another `main`. Not part of the product.

fn main() {
    hydrant_jail::enter_if_asked();
}
