// Chunks: packed by zlib, in base 64, each in an element of its own; unpacked when they are needed.
const chunks = new Map();

function packedBytes(id) {
  const element = document.getElementById(id);
  if (!element) return null;
  const text = atob(element.textContent);
  const out = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++) out[i] = text.charCodeAt(i);
  return out;
}

async function unpack(id) {
  const bytes = packedBytes(id);
  if (!bytes) return null;
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

function chunk(id) {
  if (!chunks.has(id)) chunks.set(id, unpack(id));
  return chunks.get(id);
}

// Bytes of a place [chunk, first byte, bytes]; null: they were left out.
async function bytesAt(letter, place) {
  if (!place) return null;
  const all = await chunk(letter + place[0]);
  return all && all.subarray(place[1], place[1] + place[2]);
}

const view = b => new DataView(b.buffer, b.byteOffset, b.byteLength);

// Numbers.
function half(bits) {
  const sign = bits & 0x8000 ? -1 : 1, e = (bits >> 10) & 31, m = bits & 1023;
  if (e === 31) return m ? NaN : sign * Infinity;
  return sign * (e ? (1 + m / 1024) * 2 ** (e - 15) : m / 1024 * 2 ** -14);
}
function small(bits, mantissa) {
  const e = bits >> mantissa, one = 1 << mantissa, m = bits & (one - 1);
  if (e === 31) return m ? NaN : Infinity;
  return e ? (1 + m / one) * 2 ** (e - 15) : m / one * 2 ** -14;
}
const linear = v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
const encoded = v => v <= 0.0031308 ? 12.92 * v : 1.055 * v ** (1 / 2.4) - 0.055;

// Bits of little-endian bytes as a number.
function bitsOf(b, at, offset, bits) {
  let value = 0, got = 0;
  while (got < bits) {
    const byte = b[at + ((offset + got) >> 3)], shift = (offset + got) & 7, take = Math.min(8 - shift, bits - got);
    value += ((byte >> shift) & ((1 << take) - 1)) * 2 ** got;
    got += take;
  }
  return value;
}
const scratch = new DataView(new ArrayBuffer(8));
function float32(bits) { scratch.setUint32(0, bits); return scratch.getFloat32(0); }

// Channels of a pixel, red to alpha, as numbers; undefined: the format has none.
function channels(format, b, at) {
  const out = [undefined, undefined, undefined, undefined];
  if (format.name.startsWith("E5B9G9R9")) {
    const word = bitsOf(b, at, 0, 32), scale = 2 ** (Math.floor(word / 2 ** 27) - 24);
    for (let k = 0; k < 3; k++) out[k] = bitsOf(b, at, 9 * k, 9) * scale;
    return out;
  }
  for (const [name, offset, bits] of format.components) {
    const k = Math.max(0, "rgba".indexOf(name));
    const raw = bitsOf(b, at, offset, bits), most = 2 ** bits - 1;
    const signed = raw >= 2 ** (bits - 1) ? raw - 2 ** bits : raw;
    switch (format.class) {
      case "unorm": out[k] = raw / most; break;
      case "srgb": out[k] = name === "a" ? raw / most : linear(raw / most); break;
      case "snorm": out[k] = Math.max(-1, signed / (2 ** (bits - 1) - 1)); break;
      case "sint": case "sscaled": out[k] = signed; break;
      case "sfloat": case "ufloat":
        if (bits === 64) { scratch.setUint32(0, bitsOf(b, at, offset + 32, 32)); scratch.setUint32(4, bitsOf(b, at, offset, 32)); out[k] = scratch.getFloat64(0); }
        else out[k] = bits === 32 ? float32(raw) : bits === 16 ? half(raw) : small(raw, bits - 5);
        break;
      default: out[k] = raw;
    }
  }
  return out;
}

// A number for people.
function shown(v) {
  if (v === undefined || v === null) return "–";
  if (Number.isInteger(v)) return String(v);
  if (!Number.isFinite(v)) return String(v);
  const a = Math.abs(v);
  return a >= 1e6 || a < 1e-4 ? v.toExponential(4) : String(+v.toPrecision(6));
}
const many = n => n.toLocaleString("en");

function el(tag, attributes, ...inside) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (k === "class") e.className = v;
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else if (v !== undefined && v !== null && v !== false) e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...inside.filter(i => i !== null && i !== undefined));
  return e;
}
