const polynomial = 0xed_b8_83_20;

const table = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ polynomial : value >>> 1;
  return value;
});

/** The checksum of gzip and PNG, of the characters of an ASCII text. It finds slips of the hand, it proves nothing. */
export function crc32(text: string): number {
  let sum = 0xff_ff_ff_ff;
  for (let index = 0; index < text.length; index += 1) {
    sum = (sum >>> 8) ^ (table[(sum ^ text.charCodeAt(index)) & 0xff] ?? 0);
  }
  return (sum ^ 0xff_ff_ff_ff) >>> 0;
}
