//! The accuracy of blind protocols by cost, and the gain of a protocol over it at equal cost.

/// A protocol in the picture of cost and accuracy.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The cost of one question.
    pub cost: f64,
    /// The share of right answers.
    pub accuracy: f64,
}

/// The best accuracy that protocols without talk have at each cost: the upper hull of their points.
/// Between two of them it is a straight line, because a part of the questions can be put to the one
/// and the rest to the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Frontier(Vec<Point>);

impl Frontier {
    /// The frontier of these protocols; `None` without any.
    #[must_use]
    pub fn of(points: &[Point]) -> Option<Frontier> {
        let mut points: Vec<Point> = points.to_vec();
        points.sort_by(|one, other| {
            one.cost.total_cmp(&other.cost).then(one.accuracy.total_cmp(&other.accuracy))
        });
        let mut hull: Vec<Point> = Vec::new();
        for point in points {
            if hull.last().is_some_and(|it| point.accuracy <= it.accuracy) {
                continue;
            }
            while hull.last().is_some_and(|it| it.cost == point.cost) || bends_up(&hull, point) {
                hull.pop();
            }
            hull.push(point);
        }
        (!hull.is_empty()).then_some(Frontier(hull))
    }

    /// The accuracy at this cost. Below the cheapest it is that of the cheapest, which is generous
    /// to the frontier; above the dearest that of the dearest, since more is not known.
    #[must_use]
    pub fn at(&self, cost: f64) -> f64 {
        let after = self.0.iter().position(|it| it.cost >= cost);
        match after {
            Some(0) => self.0[0].accuracy,
            Some(place) => between(self.0[place - 1], self.0[place], cost),
            None => self.0.last().map_or(0.0, |it| it.accuracy),
        }
    }

    /// Its corners, cheapest first.
    #[must_use]
    pub fn corners(&self) -> &[Point] {
        &self.0
    }
}

/// Whether the last corner lies on or below the line from the one before it to this point.
fn bends_up(hull: &[Point], point: Point) -> bool {
    let [.., before, last] = hull else { return false };
    between(*before, point, last.cost) >= last.accuracy
}

fn between(low: Point, high: Point, cost: f64) -> f64 {
    let share = (cost - low.cost) / (high.cost - low.cost);
    low.accuracy + share * (high.accuracy - low.accuracy)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frontier(points: &[(f64, f64)]) -> Frontier {
        let points: Vec<Point> = points.iter().map(|it| Point { cost: it.0, accuracy: it.1 }).collect();
        Frontier::of(&points).unwrap()
    }

    #[test]
    fn between_two_protocols_the_frontier_is_a_line() {
        let found = frontier(&[(8.0, 0.83), (1.0, 0.75), (4.0, 0.79)]);
        let at = [0.5, 1.0, 2.5, 4.0, 6.0, 8.0, 20.0].map(|cost| (found.at(cost) * 1e4).round());
        assert_eq!(at, [7500.0, 7500.0, 7700.0, 7900.0, 8100.0, 8300.0, 8300.0]);
    }

    #[test]
    fn a_dearer_and_worse_protocol_is_not_on_it() {
        let found = frontier(&[(1.0, 0.8), (4.0, 0.7), (8.0, 0.9), (5.0, 0.82)]);
        let corners: Vec<f64> = found.corners().iter().map(|it| it.cost).collect();
        assert_eq!(corners, [1.0, 8.0]);
        assert_eq!(frontier(&[(1.0, 0.5), (1.0, 0.6)]).corners().len(), 1);
        assert_eq!(Frontier::of(&[]), None);
    }
}
