//! The launcher of the jails in which the attempts are made: with the feature, unlike that of `hydrant`.

fn main() {
    hydrant_jail::enter_if_asked();
}
