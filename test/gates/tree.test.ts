import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { listTrackedFiles, pathInRepository } from './tree-copy.ts';

// Repeats two lint rules without lint, so that a disabling comment cannot hide a violation.

const maxLines = 500;
const looseType = /(?:[:<|&,(=]|\bas|\bextends|=>)\s*any\b(?!\s*[:=(,]|')|\bany\[\]/;

const sources = listTrackedFiles().filter((path) =>
  /^(src|test|stack|scripts|dev|bench|packages|site)\/.*\.tsx?$/.test(path),
);
const textOf = (path: string): string => readFileSync(pathInRepository(path), 'utf8');

/** Blanks out comments and keeps line numbers. */
function withoutComments(text: string): string[] {
  return text
    .replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ' '))
    .split('\n')
    .map((line) => line.replace(/(^|\s)\/\/.*$/, ''));
}

function looseTypesIn(text: string): number[] {
  return withoutComments(text).flatMap((line, index) => (looseType.test(line) ? [index + 1] : []));
}

describe('the repository', () => {
  it('contains the files that this test reads', () => {
    expect(sources.length).toBeGreaterThan(100);
    expect(sources).toContain('test/gates/tree.test.ts');
    expect(sources).toContain('src/domain/secret.ts');
  });

  it(`has no source file longer than ${maxLines} lines`, () => {
    const tooLong = sources.filter((path) => textOf(path).trimEnd().split('\n').length > maxLines);
    expect(tooLong).toEqual([]);
  });

  it('has no `any` type outside comments', () => {
    const places = sources.flatMap((path) => looseTypesIn(textOf(path)).map((line) => `${path}:${line}`));
    expect(places).toEqual([]);
  });

  it('fails when a file contains `any`', () => {
    const word = ['a', 'n', 'y'].join('');
    const loose = [
      `x: ${word};`,
      `f(x as ${word})`,
      `Array<${word}>`,
      `${word}[]`,
      `() => ${word}`,
      `string | ${word}`,
    ];
    for (const line of loose) expect(looseTypesIn(`// fine\n${line}`)).toEqual([2]);
    const fine = [`// x: ${word}`, `/* as\n ${word} */`, 'at most, anything', `one.${word}(list)`, `'in ${word} row'`];
    for (const line of fine) expect(looseTypesIn(line)).toEqual([]);
  });
});

const manifestSchema = z.object({
  dependencies: z.record(z.string(), z.string()).default({}),
  devDependencies: z.record(z.string(), z.string()).default({}),
  optionalDependencies: z.record(z.string(), z.string()).default({}),
});
const manifests = listTrackedFiles().filter((path) => /^((packages\/[^/]+|site)\/)?package\.json$/.test(path));

describe('the packages', () => {
  it('are listed', () => {
    const manifest = manifestSchema.parse(JSON.parse(textOf('package.json')));
    expect(Object.keys(manifest.dependencies).length).toBeGreaterThan(10);
    expect(manifests.length).toBeGreaterThan(2);
  });

  it.each(manifests)('are pinned to exact versions in %s', (path) => {
    const manifest = manifestSchema.parse(JSON.parse(textOf(path)));
    const versions = Object.values(manifest).flatMap((group) => Object.entries(group));
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))).toEqual([]);
  });
});
