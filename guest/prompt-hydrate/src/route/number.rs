//! `exp` and `ln` from additions and multiplications alone, so that every IEEE platform gives the same bits.

/// e to the power of `x`; 0 below −60, and the value at 60 above it.
#[must_use]
pub fn exp(x: f64) -> f64 {
    if x < -60.0 {
        return 0.0;
    }
    let x = if x > 60.0 { 60.0 } else { x };
    // e^x = (e^(x/256))^256: the series needs few terms near zero.
    let small = x / 256.0;
    let mut term = 1.0;
    let mut sum = 1.0;
    for n in 1..12_u32 {
        term *= small / f64::from(n);
        sum += term;
    }
    for _ in 0..8 {
        sum *= sum;
    }
    sum
}

/// Natural logarithm of a positive number below 10^9; 0 for others.
#[must_use]
pub fn ln(x: f64) -> f64 {
    if !(x > 0.0 && x < 1e9) {
        return 0.0;
    }
    // Into 0.75…1.5 by halving and doubling, then the series of artanh.
    let mut halvings = 0.0;
    let mut x = x;
    while x > 1.5 {
        x /= 2.0;
        halvings += 1.0;
    }
    while x < 0.75 {
        x *= 2.0;
        halvings -= 1.0;
    }
    let ratio = (x - 1.0) / (x + 1.0);
    let square = ratio * ratio;
    let mut power = ratio;
    let mut sum = 0.0;
    for n in 0..16_u32 {
        sum += power / f64::from(2 * n + 1);
        power *= square;
    }
    2.0 * sum + halvings * std::f64::consts::LN_2
}

/// A count as a number.
#[must_use]
pub fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Rounded to two places.
#[must_use]
pub fn two_places(x: f64) -> f64 {
    (x * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn q_224_exp_and_ln_are_close_to_the_library_ones() {
        for x in [-20.0, -3.5, -0.1, 0.0, 0.7, 2.0, 12.5_f64] {
            assert!((exp(x) - x.exp()).abs() <= 1e-11 * x.exp(), "{x}");
        }
        for x in [0.001, 0.5, 1.0, 3.0, 750.0_f64] {
            assert!((ln(x) - x.ln()).abs() < 1e-12, "{x}");
        }
    }
}
