/** A strict RFC 4180 parser that shares no code with the product. Throws on anything that the RFC does not allow. */
export function parseCsv(text: string): string[][] {
  const field = /(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/gy;
  const records: string[][] = [];
  let record: string[] = [];
  while (field.lastIndex < text.length) {
    const at = field.lastIndex;
    const found = field.exec(text);
    if (!found) throw new Error(`invalid CSV at ${at}: ${text.slice(at, at + 40)}`);
    const [, quoted, bare = '', end] = found;
    record.push(quoted === undefined ? bare : quoted.replaceAll('""', '"'));
    if (end === ',') continue;
    records.push(record);
    record = [];
  }
  if (record.length > 0) throw new Error('the last record is not terminated');
  return records;
}
