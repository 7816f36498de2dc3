//! Solves a small system of linear equations.

/// The solution of `matrix · x = right` by elimination with the largest pivot; `None` if the matrix
/// is singular.
pub(super) fn solve(mut matrix: Vec<Vec<f64>>, mut right: Vec<f64>) -> Option<Vec<f64>> {
    let size = right.len();
    for column in 0..size {
        let pivot =
            (column..size).max_by(|a, b| matrix[*a][column].abs().total_cmp(&matrix[*b][column].abs()))?;
        if matrix[pivot][column].abs() < f64::MIN_POSITIVE {
            return None;
        }
        matrix.swap(column, pivot);
        right.swap(column, pivot);
        for row in column + 1..size {
            let factor = matrix[row][column] / matrix[column][column];
            if factor == 0.0 {
                continue;
            }
            let (above, below) = matrix.split_at_mut(row);
            for (it, pivot) in below[0].iter_mut().zip(&above[column]).skip(column) {
                *it -= factor * pivot;
            }
            right[row] -= factor * right[column];
        }
    }
    Some(substituted(&matrix, right))
}

/// The solution of a system in upper triangular form.
fn substituted(matrix: &[Vec<f64>], mut right: Vec<f64>) -> Vec<f64> {
    for row in (0..right.len()).rev() {
        let known: f64 = (row + 1..right.len()).map(|column| matrix[row][column] * right[column]).sum();
        right[row] = (right[row] - known) / matrix[row][row];
    }
    right
}

#[cfg(test)]
mod tests {
    use super::solve;

    #[test]
    fn a_system_that_needs_its_rows_exchanged() {
        let matrix = vec![vec![0.0, 2.0, 1.0], vec![1.0, 1.0, 0.0], vec![2.0, 0.0, 3.0]];
        let found = solve(matrix, vec![7.0, 3.0, 11.0]).unwrap();
        for (found, expected) in found.iter().zip([1.0, 2.0, 3.0]) {
            assert!((found - expected).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn a_singular_system_has_no_solution() {
        assert_eq!(solve(vec![vec![1.0, 2.0], vec![2.0, 4.0]], vec![1.0, 2.0]), None);
    }
}
