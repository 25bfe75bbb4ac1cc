//! Messages of protocol buffers, written: what a trace needs of their wire format (protobuf.dev/programming-guides/encoding).

/// The bytes of a message whose fields are being added.
#[derive(Default)]
pub struct Message(Vec<u8>);

const VARINT: u64 = 0;
const FIXED64: u64 = 1;
const LENGTH: u64 = 2;

impl Message {
    pub fn bytes(self) -> Vec<u8> {
        self.0
    }

    fn varint(&mut self, mut v: u64) {
        while v >= 0x80 {
            self.0.push(v as u8 | 0x80);
            v >>= 7;
        }
        self.0.push(v as u8);
    }

    fn tag(&mut self, field: u32, kind: u64) {
        self.varint(u64::from(field) << 3 | kind);
    }

    /// An integer that is not below 0, a bool or an enum.
    pub fn uint(mut self, field: u32, v: u64) -> Self {
        self.tag(field, VARINT);
        self.varint(v);
        self
    }

    pub fn double(mut self, field: u32, v: f64) -> Self {
        self.tag(field, FIXED64);
        self.0.extend(v.to_le_bytes());
        self
    }

    pub fn string(mut self, field: u32, v: &str) -> Self {
        self.add_bytes(field, v.as_bytes());
        self
    }

    pub fn message(mut self, field: u32, v: Message) -> Self {
        self.add(field, v);
        self
    }

    /// Adds a message to this one.
    pub fn add(&mut self, field: u32, v: Message) {
        self.add_bytes(field, &v.0);
    }

    fn add_bytes(&mut self, field: u32, v: &[u8]) {
        self.tag(field, LENGTH);
        self.varint(v.len() as u64);
        self.0.extend(v);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the format's own description: 150 in field 1 is 08 96 01, "testing" in field 2 is 12 07 and the letters.
    #[test]
    fn fields_are_as_described() {
        assert_eq!(Message::default().uint(1, 150).bytes(), [0x08, 0x96, 0x01]);
        assert_eq!(Message::default().string(2, "testing").bytes(), *b"\x12\x07testing");
        let inner = Message::default().uint(1, 150);
        assert_eq!(Message::default().message(3, inner).bytes(), [0x1a, 0x03, 0x08, 0x96, 0x01]);
        // Field 16 has a tag of two bytes; 1.0 is 3ff0…, the low byte first; the largest number has ten bytes.
        assert_eq!(Message::default().double(16, 1.0).bytes(), [0x81, 0x01, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f]);
        let most = Message::default().uint(1, u64::MAX).bytes();
        assert_eq!((most.len(), most[10]), (11, 1));
    }
}
