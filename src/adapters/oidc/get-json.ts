import { request as requestPlain, type IncomingMessage } from 'node:http';
import { request as requestSecure } from 'node:https';
import type { Agents } from '../guarded-agents.ts';

/** A discovery document has some 5 kB, a key set with certificates 20. */
const mostBytes = 256 * 1024;

/** Follows no redirect, reads no more than an answer may have, and ends with the signal, whatever it is at. */
export async function getJson(url: URL, agents: Agents, signal: AbortSignal): Promise<unknown> {
  const answer = await get(url, agents, signal);
  try {
    if (answer.statusCode !== 200) throw new Error(`${url.href} answered with ${answer.statusCode}`);
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of answer) {
      if (!Buffer.isBuffer(chunk)) throw new Error(`${url.href} gave no bytes`);
      size += chunk.length;
      if (size > mostBytes) throw new Error(`${url.href} has more than ${mostBytes} bytes`);
      chunks.push(chunk);
    }
    return parse(url, Buffer.concat(chunks).toString());
  } finally {
    answer.destroy();
  }
}

function get(url: URL, { http, https }: Agents, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { accept: 'application/json' };
    const sent =
      url.protocol === 'https:'
        ? requestSecure(url, { agent: https, signal, headers }, resolve)
        : requestPlain(url, { agent: http, signal, headers }, resolve);
    sent.on('error', reject).end();
  });
}

function parse(url: URL, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser would repeat a part of the text.
    throw new Error(`${url.href} is no JSON`);
  }
}
