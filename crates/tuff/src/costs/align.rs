//! Lines of two texts side by side.

/// Cells of the table of common lines at most: of more, what lies between equal beginnings and ends is taken to be replaced.
const CELLS: usize = 4_000_000;

/// A row: the place of the line in the first text, and in the second.
pub type Row = (Option<usize>, Option<usize>);

/// The longest common sequence of lines; what is not in it stands alone, that of the first text first.
pub fn rows<T: PartialEq>(a: &[T], b: &[T]) -> Vec<Row> {
    let same = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let (a_rest, b_rest) = (&a[same..], &b[same..]);
    let tail = a_rest.iter().rev().zip(b_rest.iter().rev()).take_while(|(x, y)| x == y).count();
    let (a_mid, b_mid) = (&a_rest[..a_rest.len() - tail], &b_rest[..b_rest.len() - tail]);
    let mut out: Vec<Row> = (0..same).map(|i| (Some(i), Some(i))).collect();
    let (i0, j0) = (same, same);
    if a_mid.len().saturating_mul(b_mid.len()) > CELLS {
        out.extend((0..a_mid.len()).map(|i| (Some(i0 + i), None)));
        out.extend((0..b_mid.len()).map(|j| (None, Some(j0 + j))));
    } else {
        let wide = b_mid.len() + 1;
        // Of what begins at each pair of places, the length of the longest.
        let mut longest = vec![0u32; (a_mid.len() + 1) * wide];
        for i in (0..a_mid.len()).rev() {
            for j in (0..b_mid.len()).rev() {
                longest[i * wide + j] = match a_mid[i] == b_mid[j] {
                    true => longest[(i + 1) * wide + j + 1] + 1,
                    false => longest[(i + 1) * wide + j].max(longest[i * wide + j + 1]),
                };
            }
        }
        let (mut i, mut j) = (0, 0);
        while i < a_mid.len() || j < b_mid.len() {
            let (x, y) = (a_mid.get(i), b_mid.get(j));
            if x.is_some() && x == y {
                out.push((Some(i0 + i), Some(j0 + j)));
                (i, j) = (i + 1, j + 1);
            } else if y.is_none() || x.is_some() && longest[(i + 1) * wide + j] >= longest[i * wide + j + 1] {
                out.push((Some(i0 + i), None));
                i += 1;
            } else {
                out.push((None, Some(j0 + j)));
                j += 1;
            }
        }
    }
    let (i1, j1) = (a.len() - tail, b.len() - tail);
    out.extend((0..tail).map(|k| (Some(i1 + k), Some(j1 + k))));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_kept_replaced_inserted_and_removed() {
        let of = |a: &str, b: &str| {
            rows(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>())
                .into_iter()
                .map(|(i, j)| {
                    let at = |s: &str, i: usize| s.chars().nth(i).unwrap();
                    match (i, j) {
                        (Some(i), Some(j)) => {
                            assert_eq!(at(a, i), at(b, j));
                            format!(" {}", at(a, i))
                        }
                        (Some(i), None) => format!("-{}", at(a, i)),
                        (None, Some(j)) => format!("+{}", at(b, j)),
                        (None, None) => unreachable!(),
                    }
                })
                .collect::<String>()
        };
        assert_eq!(of("abc", "abc"), " a b c");
        assert_eq!(of("abc", "axc"), " a-b+x c");
        assert_eq!(of("ac", "abc"), " a+b c");
        assert_eq!(of("abcd", "bd"), "-a b-c d");
        assert_eq!(of("", "ab"), "+a+b");
        // Four lines are the longest; where two ways are as long, the first text's line stands first.
        assert_eq!(of("abcabba", "cbabac"), "-a-b c-a b+a b a+c");
    }
}
