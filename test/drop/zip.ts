import { crc32, deflateRawSync } from 'node:zlib';

/** A ZIP archive as DROP sends it: deflated files without encryption. */
export function zipOf(files: ReadonlyMap<string, string>): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of files) {
    const content = Buffer.from(text);
    const packed = deflateRawSync(content);
    const described = Buffer.alloc(26);
    described.writeUInt16LE(20, 0); // version
    described.writeUInt16LE(8, 4); // deflated
    described.writeUInt32LE(crc32(content), 10);
    described.writeUInt32LE(packed.length, 14);
    described.writeUInt32LE(content.length, 18);
    described.writeUInt16LE(Buffer.byteLength(name), 22);
    const local = Buffer.concat([Buffer.from('PK\x03\x04'), described, Buffer.from(name), packed]);
    const position = Buffer.alloc(14);
    position.writeUInt32LE(offset, 10);
    const head = Buffer.concat([Buffer.from('PK\x01\x02'), Buffer.from([20, 0]), described, position]);
    directory.push(head, Buffer.from(name));
    parts.push(local);
    offset += local.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(files.size, 4);
  end.writeUInt16LE(files.size, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...parts, listed, Buffer.from('PK\x05\x06'), end]);
}
