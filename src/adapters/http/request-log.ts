import type { Api } from './server.ts';

/** One line for each request, when it is answered; that it came is of use only to whoever looks for one that never was. */
export function addRequestLog(api: Api): void {
  api.addHook('onRequest', (request, _reply, done) => {
    request.log.debug({ req: request }, 'incoming request');
    done();
  });
  api.addHook('onResponse', (request, reply, done) => {
    request.log.info({ req: request, res: reply, responseTime: Math.round(reply.elapsedTime) }, 'request completed');
    done();
  });
}
