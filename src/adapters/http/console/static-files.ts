import type { FastifyReply, FastifyRequest } from 'fastify';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { consolePath } from '../../../domain/console-address.ts';
import { Failure } from '../../../domain/failure.ts';
import type { Api } from '../api.ts';
import { isNamed, readIfNoneMatch } from '../conditional-get.ts';
import { pathOf } from '../problems.ts';

type StaticFile = {
  readonly type: string;
  readonly cacheControl: string;
  readonly tag: string;
  readonly plain: Buffer;
  /** Null if the compressed file would not be smaller. */
  readonly gzip: Buffer | null;
};

/** The built console, by URL path. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The build adds a hash of the content to the names of the files in this folder. */
const hashedPath = `${consolePath}assets/`;

/** Reads the whole folder, so that a request never causes access to the file system. Empty if the folder is missing. */
export function readStaticFiles(folder: string): StaticFiles {
  return new Map(
    filesIn(folder).map((name) => {
      const path = consolePath + name.replaceAll('\\', '/');
      return [path, toStaticFile(path, readFileSync(join(folder, name)))];
    }),
  );
}

function filesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [join(entry.parentPath, entry.name).slice(folder.length + 1)] : [],
    );
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function toStaticFile(path: string, plain: Buffer): StaticFile {
  const compressed = gzipSync(plain, { level: 9 });
  return {
    type: types[extname(path)] ?? 'application/octet-stream',
    cacheControl: path.startsWith(hashedPath) ? 'public, max-age=31536000, immutable' : 'no-cache',
    tag: createHash('sha256').update(plain).digest('base64url').slice(0, 22),
    plain,
    gzip: compressed.length < plain.length ? compressed : null,
  };
}

/** Allows only resources from this server, and uploads to the object storage. */
function contentSecurityPolicy(storageOrigin: string | null): string {
  return [
    "default-src 'self'",
    `connect-src 'self'${storageOrigin === null ? '' : ` ${storageOrigin}`}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const indexPath = `${consolePath}index.html`;
const config = { operation: 'console' };

/** Serves the console. Every path without a file is a page of the application, which reads the path itself. */
export function addStaticFiles(
  api: Api,
  { files, storageOrigin }: { readonly files: StaticFiles; readonly storageOrigin: string | null },
): void {
  const policy = contentSecurityPolicy(storageOrigin);
  api.get('/console', { config }, async (_request, reply) => reply.redirect(consolePath));
  api.get(`${consolePath}*`, { config }, async (request, reply) => {
    const path = pathOf(request);
    const isPage = !path.startsWith(hashedPath) && !path.startsWith(`${consolePath}auth/`);
    const file = files.get(path) ?? (isPage ? files.get(indexPath) : undefined);
    if (!file) throw new Failure('not_found', `There is no ${request.method} ${path}.`);
    return sendFile(request, reply.header('content-security-policy', policy), file);
  });
}

function sendFile(request: FastifyRequest, reply: FastifyReply, file: StaticFile): FastifyReply {
  const isCompressed = file.gzip !== null && acceptsGzip(request.headers['accept-encoding']?.toString());
  const tag = isCompressed ? `${file.tag}-gzip` : file.tag;
  reply.header('cache-control', file.cacheControl).header('vary', 'Accept-Encoding').header('etag', `"${tag}"`);
  if (isNamed(tag, readIfNoneMatch(request.headers['if-none-match']))) return reply.code(304).send();
  if (isCompressed) reply.header('content-encoding', 'gzip');
  return reply.header('content-type', file.type).send(isCompressed ? file.gzip : file.plain);
}

/** Whether the client accepts gzip (RFC 9110, section 12.5.3). */
export function acceptsGzip(header = ''): boolean {
  return header.split(',').some((coding) => {
    const [name = '', ...parameters] = coding.split(';').map((text) => text.trim().toLowerCase());
    return (name === 'gzip' || name === '*') && !parameters.some((text) => /^q=0(?:\.0*)?$/.test(text));
  });
}
