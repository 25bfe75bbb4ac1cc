//! What bytes of a pixel say, by the bits of its format.

use super::data::Format;

/// A channel's value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Value {
    Float(f64),
    Whole(i64),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        match self {
            Value::Float(v) => write!(f, "{}", *v as f32),
            Value::Whole(v) => write!(f, "{v}"),
        }
    }
}

/// Channels of a pixel, with their letters, in the order red, green, blue, alpha; empty: the format is not read here.
pub fn channels(format: &Format, bytes: &[u8]) -> Vec<(char, Value)> {
    if format.name.starts_with("E5B9G9R9") {
        return shared_exponent(bytes);
    }
    let word = bytes.iter().take(16).rev().fold(0u128, |w, b| w << 8 | *b as u128);
    let mut all: Vec<(char, Value)> = format
        .components
        .iter()
        .filter(|(_, offset, bits)| {
            (1..=64).contains(bits) && offset.saturating_add(*bits) <= 8 * bytes.len().min(16) as u32
        })
        .map(|&(name, offset, bits)| {
            let mask = u64::MAX >> (64 - bits);
            (name, value(&format.class, (word >> offset) as u64 & mask, bits, name))
        })
        .collect();
    all.sort_by_key(|(name, _)| "rgba".find(*name));
    all
}

fn value(class: &str, raw: u64, bits: u32, name: char) -> Value {
    let most = (u64::MAX >> (64 - bits)) as f64;
    let signed = ((raw << (64 - bits)) as i64) >> (64 - bits);
    match class {
        "unorm" => Value::Float(raw as f64 / most),
        "srgb" if name == 'a' => Value::Float(raw as f64 / most),
        "srgb" => Value::Float(linear(raw as f64 / most)),
        "snorm" => Value::Float((signed as f64 / (u64::MAX >> (65 - bits.max(2))) as f64).max(-1.0)),
        "uscaled" => Value::Float(raw as f64),
        "sscaled" => Value::Float(signed as f64),
        "sint" => Value::Whole(signed),
        "sfloat" | "ufloat" => Value::Float(float(raw, bits)),
        _ => Value::Whole(raw as i64),
    }
}

/// A floating-point number of 10, 11, 16, 32 or 64 bits; those of 10 and 11 have no sign.
fn float(raw: u64, bits: u32) -> f64 {
    let (exponent, mantissa, sign) = match bits {
        32 => return f32::from_bits(raw as u32) as f64,
        64 => return f64::from_bits(raw),
        16 => (5, 10, true),
        _ => (5, bits.saturating_sub(5), false),
    };
    let m = raw & ((1 << mantissa) - 1);
    let e = (raw >> mantissa) & ((1 << exponent) - 1);
    let negative = sign && raw >> (bits - 1) & 1 != 0;
    let one = (1u64 << mantissa) as f64;
    let v = match e {
        0 => m as f64 / one * 2f64.powi(-14),
        31 if m != 0 => f64::NAN,
        31 => f64::INFINITY,
        e => (1.0 + m as f64 / one) * 2f64.powi(e as i32 - 15),
    };
    if negative { -v } else { v }
}

fn shared_exponent(bytes: &[u8]) -> Vec<(char, Value)> {
    let Some(word) = bytes.first_chunk::<4>().map(|b| u32::from_le_bytes(*b)) else { return vec![] };
    let scale = 2f64.powi((word >> 27) as i32 - 24);
    let channel = |k: u32| Value::Float((word >> (9 * k) & 0x1FF) as f64 * scale);
    vec![('r', channel(0)), ('g', channel(1)), ('b', channel(2))]
}

/// The inverse of sRGB's transfer function (IEC 61966-2-1).
fn linear(v: f64) -> f64 {
    if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, class: &str, components: &[(char, u32, u32)]) -> Format {
        let bits: u32 = components.iter().map(|c| c.2).sum();
        Format { name: name.into(), bytes: bits / 8, class: class.into(), components: components.to_vec() }
    }

    #[test]
    fn pixels_say_what_their_bits_are() {
        let bgra = format("B8G8R8A8_UNORM", "unorm", &[('b', 0, 8), ('g', 8, 8), ('r', 16, 8), ('a', 24, 8)]);
        let v = channels(&bgra, &[255, 51, 0, 102]);
        assert_eq!(v, [('r', 0.0), ('g', 0.2), ('b', 1.0), ('a', 0.4)].map(|(c, v)| (c, Value::Float(v))));
        let half = format("R16_SFLOAT", "sfloat", &[('r', 0, 16)]);
        // 1.5 and −2; the least subnormal.
        let one = |bits: u16| channels(&half, &bits.to_le_bytes())[0].1;
        assert_eq!([0x3E00, 0xC000, 1].map(one), [1.5, -2.0, 2f64.powi(-24)].map(Value::Float));
        let small =
            format("B10G11R11_UFLOAT_PACK32", "ufloat", &[('r', 0, 11), ('g', 11, 11), ('b', 22, 10)]);
        let word = 0x3C0u32 | 0x3E0 << 11 | 0x1F0 << 22;
        // Exponent 15; mantissas 0, 1/2, 1/2.
        let v = channels(&small, &word.to_le_bytes());
        assert_eq!(v.iter().map(|c| c.1).collect::<Vec<_>>(), [1.0, 1.5, 1.5].map(Value::Float));
        let shared =
            channels(&format("E5B9G9R9_UFLOAT_PACK32", "ufloat", &[]), &(1u32 | 24 << 27).to_le_bytes());
        assert_eq!(shared[0], ('r', Value::Float(1.0)));
        let signed = format("R8_SNORM", "snorm", &[('r', 0, 8)]);
        assert_eq!(
            [0x80u8, 0x81, 127].map(|b| channels(&signed, &[b])[0].1),
            [-1.0, -1.0, 1.0].map(Value::Float)
        );
        let whole = format("R8_SINT", "sint", &[('r', 0, 8)]);
        assert_eq!(channels(&whole, &[0xFE])[0].1, Value::Whole(-2));
    }
}
