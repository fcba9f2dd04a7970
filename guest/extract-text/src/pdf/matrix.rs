//! Coordinates (ISO 32000-2, 8.3).

/// `[a b c d e f]`: x' = a x + c y + e, y' = b x + d y + f.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Matrix(pub(super) [f64; 6]);

/// A point, or the way from one to another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Vector {
    pub(super) x: f64,
    pub(super) y: f64,
}

impl Matrix {
    pub(super) const IDENTITY: Self = Self([1.0, 0.0, 0.0, 1.0, 0.0, 0.0]);

    pub(super) fn translation(x: f64, y: f64) -> Self {
        Self([1.0, 0.0, 0.0, 1.0, x, y])
    }

    /// First this one, then the other.
    pub(super) fn then(&self, other: &Self) -> Self {
        let Self([a, b, c, d, e, f]) = *self;
        let Self([oa, ob, oc, od, oe, of]) = *other;
        Self([
            a * oa + b * oc,
            a * ob + b * od,
            c * oa + d * oc,
            c * ob + d * od,
            e * oa + f * oc + oe,
            e * ob + f * od + of,
        ])
    }

    /// Where the origin goes.
    pub(super) fn origin(&self) -> Vector {
        let Self([.., e, f]) = *self;
        Vector { x: e, y: f }
    }

    /// Where the way along the x axis goes, of length 1.
    pub(super) fn x_axis(&self) -> Vector {
        let Self([a, b, ..]) = *self;
        Vector { x: a, y: b }
    }

    /// Where the way along the y axis goes, of length 1.
    pub(super) fn y_axis(&self) -> Vector {
        let Self([_, _, c, d, ..]) = *self;
        Vector { x: c, y: d }
    }
}

impl Vector {
    pub(super) fn length(self) -> f64 {
        self.x.hypot(self.y)
    }

    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            x: self.x - other.x,
            y: self.y - other.y,
        }
    }

    /// How far this goes along the direction of another, and how far across it.
    pub(super) fn along_and_across(self, direction: Self) -> (f64, f64) {
        let length = direction.length();
        if length <= 0.0 {
            return (self.x, self.y);
        }
        let (x, y) = (direction.x / length, direction.y / length);
        (self.x * x + self.y * y, self.y * x - self.x * y)
    }
}
