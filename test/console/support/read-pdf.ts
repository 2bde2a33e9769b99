import { inflateSync } from 'node:zlib';

// Reads the PDF files that Chromium writes: plain objects, compressed streams, and fonts whose glyphs have two bytes.

export type Pdf = {
  readonly pages: number;
  /** Without spaces, which are gaps between the words. */ readonly text: string;
};

export function readPdf(bytes: Buffer): Pdf {
  const objects = new Map(
    [...bytes.toString('latin1').matchAll(/^(\d+) 0 obj\n([\s\S]*?)\nendobj$/gm)].map(([, id = '', body = '']) => [
      id,
      body,
    ]),
  );
  const pages = [...objects.values()].filter((body) => /^<<[^>]*?\/Type \/Page\n/.test(body));
  const streamOf = (id: string): string => {
    const body = objects.get(id) ?? '';
    const data = body.slice(body.indexOf('stream\n') + 'stream\n'.length, body.lastIndexOf('\nendstream'));
    return body.includes('/Filter /FlateDecode') ? inflateSync(Buffer.from(data, 'latin1')).toString('latin1') : data;
  };
  const text = pages.map((page) => {
    const fonts = new Map(
      [...page.matchAll(/\/(F\d+) (\d+) 0 R/g)].map(([, name = '', id = '']) => {
        const unicode = /\/ToUnicode (\d+) 0 R/.exec(objects.get(id) ?? '')?.[1] ?? '';
        return [name, readUnicode(streamOf(unicode))];
      }),
    );
    const content = /\/Contents (\d+) 0 R/.exec(page)?.[1] ?? '';
    return textOf(streamOf(content), fonts);
  });
  return { pages: pages.length, text: text.join('') };
}

type Unicode = ReadonlyMap<number, string>;

/** Reads the mapping from glyphs to characters. */
function readUnicode(map: string): Unicode {
  const found = new Map<number, string>();
  for (const [, section = ''] of map.matchAll(/beginbfchar\n([\s\S]*?)endbfchar/g)) {
    for (const [, glyph = '', character = ''] of section.matchAll(/<(\w+)> <(\w+)>/g)) {
      found.set(Number.parseInt(glyph, 16), decode(character));
    }
  }
  for (const [, section = ''] of map.matchAll(/beginbfrange\n([\s\S]*?)endbfrange/g)) {
    for (const [, from = '', to = '', first = ''] of section.matchAll(/<(\w+)> <(\w+)> <(\w+)>/g)) {
      const start = Number.parseInt(from, 16);
      for (let glyph = start; glyph <= Number.parseInt(to, 16); glyph += 1) {
        found.set(glyph, String.fromCodePoint(Number.parseInt(first, 16) + glyph - start));
      }
    }
  }
  return found;
}

function decode(hex: string): string {
  return Buffer.from(hex, 'hex').swap16().toString('utf16le');
}

function textOf(content: string, fonts: ReadonlyMap<string, Unicode>): string {
  let font: Unicode | undefined;
  let text = '';
  for (const [, name, glyphs = ''] of content.matchAll(/\/(F\d+) [\d.]+ Tf|<([0-9A-F]+)>/g)) {
    if (name !== undefined) font = fonts.get(name);
    for (const [glyph] of glyphs.matchAll(/.{4}/g)) text += font?.get(Number.parseInt(glyph, 16)) ?? '';
  }
  // Fonts have ligatures, such as one glyph for "fi".
  return text.normalize('NFKC').replaceAll(/\s/g, '');
}
