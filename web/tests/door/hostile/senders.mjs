// One way for each transport to ask the same: by POST, in a URL, over a socket, as a stream. Each answers alike: whether the
// request was refused, the codes of its errors, and the text to look through.
import { request } from 'node:http';
import { JSON_TYPE, RESPONSE_JSON, Socket, endpoint } from '../support.mjs';

const PATIENCE_MS = 20_000;

// A request by HTTP on a connection of its own; a connection that the server closes on us is a refusal too.
function http(options, body) {
  return new Promise((resolve, reject) => {
    const closed = () => resolve({ closed: true, status: 0, text: '' });
    const asked = request(endpoint, { agent: false, timeout: PATIENCE_MS, ...options }, (response) => {
      const chunks = [];
      response.on('data', (chunk) => chunks.push(chunk));
      response.on('end', () => resolve({ status: response.statusCode, text: Buffer.concat(chunks).toString() }));
      response.on('error', closed);
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
    asked.on('error', (cause) => (['ECONNRESET', 'EPIPE'].includes(cause.code) ? closed() : reject(cause)));
    asked.end(body);
  });
}

function judged({ closed = false, status, text }) {
  if (closed) return { refused: true, status, codes: [], text };
  let body;
  try {
    body = JSON.parse(text);
  } catch {
    return { refused: status >= 400, status, codes: [], text };
  }
  // What no field of was answered, ran as little as what has no data.
  return { refused: (body.data ?? null) === null, data: body.data, status, codes: (body.errors ?? []).map((error) => error.extensions?.code), text };
}

// A request as JSON. Variables may come as text: what is nested deep enough could not be written otherwise.
function written({ query, operationName, variables, variablesJson = JSON.stringify(variables) }) {
  const rest = variablesJson === undefined ? '' : `,"variables":${variablesJson}`;
  return `{"query":${JSON.stringify(query)},"operationName":${JSON.stringify(operationName ?? null)}${rest}}`;
}

export async function byPost(ask) {
  const headers = { 'content-type': JSON_TYPE, accept: RESPONSE_JSON };
  return judged(await http({ method: 'POST', headers }, written(ask)));
}

export async function byGet({ query, operationName, variables, variablesJson = JSON.stringify(variables) }) {
  const parameters = new URLSearchParams({ query });
  if (operationName !== undefined) parameters.set('operationName', operationName);
  if (variablesJson !== undefined) parameters.set('variables', variablesJson);
  const { pathname } = new URL(endpoint);
  return judged(await http({ path: `${pathname}?${parameters}`, headers: { accept: RESPONSE_JSON } }));
}

export async function bySocket(ask) {
  const socket = await Socket.open();
  try {
    socket.send(`{"id":"1","type":"subscribe","payload":${written(ask)}}`);
    const answer = await socket.next(PATIENCE_MS).catch((cause) => ({ type: 'closed', payload: String(cause.message) }));
    const { type, payload } = answer;
    const errors = type === 'error' ? payload : payload?.errors;
    const { data } = payload ?? {};
    return { refused: type !== 'next', data, status: type, codes: (errors ?? []).map?.((error) => error.extensions?.code) ?? [], text: JSON.stringify(answer) };
  } finally {
    socket.end();
  }
}

// The first event of a stream is the answer; what follows of a subscription is not waited for.
export function byEvents(ask) {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': JSON_TYPE, accept: 'text/event-stream' };
    const asked = request(endpoint, { agent: false, timeout: PATIENCE_MS, method: 'POST', headers }, (response) => {
      const { statusCode: status } = response;
      const streams = /^text\/event-stream/.test(response.headers['content-type']);
      let text = '';
      const done = () => {
        const data = streams ? /^data: ?(.*)$/m.exec(text)?.[1] : text;
        resolve(judged({ status, text: data ?? '' }));
        asked.destroy();
      };
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        if (streams && /^event: next\r?\n[^]*?\n\r?\n/m.test(text)) done();
      });
      response.on('end', done).on('error', () => {});
    });
    asked.on('timeout', () => asked.destroy(new Error(`no answer within ${PATIENCE_MS} ms`)));
    asked.on('error', (cause) => (['ECONNRESET', 'EPIPE'].includes(cause.code) ? resolve(judged({ closed: true, status: 0, text: '' })) : reject(cause)));
    asked.end(written(ask));
  });
}

export const senders = { POST: byPost, GET: byGet, WS: bySocket };
// Server-sent events are served beside them from the version on that knows them.
if ((await byEvents({ query: '{ __typename }' })).status !== 406) senders.SSE = byEvents;
