// Hostile sockets: what is written frame by frame, and how the server ends it. `open` stands for a socket that it keeps,
// `gone` for one that it drops without a word.
import { INIT, frame, text } from './raw.mjs';

const many = (count, make) => Array.from({ length: count }, (_, n) => make(n));
const subscribe = (id, query = 'subscription { changes { cursor } }') => text({ id, type: 'subscribe', payload: { query } });
const whole = (list) => Buffer.concat(list);
const deep = (depth) => `{"type":"connection_init","payload":{"x":${'['.repeat(depth)}${']'.repeat(depth)}}}`;

export const sockets = [
  { name: 'five thousand pings as messages', frames: [INIT, whole(many(5_000, () => text({ type: 'ping' })))], closes: ['open'], worth: 2_500 },
  { name: 'five thousand pings as frames', frames: [INIT, whole(many(5_000, () => frame('', { opcode: 9 })))], closes: ['open'], worth: 500 },
  { name: 'five thousand pongs that nobody asked for', frames: [INIT, whole(many(5_000, () => frame('', { opcode: 10 })))], closes: ['open'], worth: 500 },
  { name: 'a ping of 126 bytes', frames: [INIT, frame('x'.repeat(126), { opcode: 9 })], closes: [1002, 4400, 'gone'] },
  { name: 'a ping in pieces', frames: [INIT, frame('', { opcode: 9, fin: false })], closes: [1002, 4400, 'gone'] },
  { name: 'a message in 10,000 pieces', frames: [INIT, whole([frame('{', { fin: false }), ...many(10_000, () => frame(' ', { opcode: 0, fin: false })), frame('"type":"ping"}', { opcode: 0 })])], closes: ['open'], worth: 1_000 },
  { name: 'a message in 100,000 empty pieces', frames: [INIT, whole([frame('', { fin: false }), ...many(100_000, () => frame('', { opcode: 0, fin: false }))])], closes: ['open'], worth: 10_000, quiet: 3_000 },
  { name: 'a message that begins within another', frames: [INIT, frame('{', { fin: false }), text({ type: 'ping' })], closes: [1002, 4400, 'gone'] },
  { name: 'the rest of nothing', frames: [INIT, frame('x', { opcode: 0 })], closes: [1002, 4400, 'gone'] },
  { name: 'T10: text that is no UTF-8', frames: [INIT, frame(Buffer.from([0x22, 0xff, 0x22]))], closes: [1007, 4400] },
  { name: 'half a letter, and no more', frames: [INIT, frame(Buffer.from([0xe2, 0x82]), { fin: false }), frame('x', { opcode: 0 })], closes: [1007, 4400] },
  { name: 'a frame without a mask', frames: [text({ type: 'connection_init' }, { mask: false })], closes: [1002, 4400, 'gone'] },
  { name: 'reserved bits', frames: [INIT, text({ type: 'ping' }, { rsv: 4 })], closes: [1002, 4400, 'gone'] },
  { name: 'a reserved kind of frame', frames: [INIT, frame('x', { opcode: 5 })], closes: [1002, 4400, 'gone'] },
  { name: 'a compressed frame that nobody agreed on', headers: 'sec-websocket-extensions: permessage-deflate\r\n', frames: [INIT, frame(Buffer.alloc(100), { rsv: 4 })], closes: [1002, 4400, 'gone'] },
  { name: 'a frame of 2^63 bytes', frames: [INIT, frame('x', { length: 2n ** 63n - 1n })], closes: [1009, 4400, 'gone'] },
  { name: 'a frame a byte too long', frames: [INIT, frame('x'.repeat(1024 * 1024 + 1))], closes: [1009, 4400, 'gone'] },
  { name: 'a message too long in pieces', frames: [INIT, frame('x', { fin: false }), ...many(20, () => frame('x'.repeat(65_536), { opcode: 0, fin: false }))], closes: [1009, 4400, 'gone'] },
  { name: 'a frame that never comes', frames: [INIT, frame('x', { length: 1024n * 1024n })], closes: ['open'] },
  { name: 'a binary message', frames: [INIT, frame('{"type":"ping"}', { opcode: 2 })], closes: [4400] },
  { name: 'a close of one byte', frames: [INIT, frame('x', { opcode: 8 })], closes: [1002, 4400, 'gone'] },
  { name: 'a close that says 1005', frames: [INIT, frame(Buffer.from([0x03, 0xed]), { opcode: 8 })], closes: [1002, 'gone', 4400] },
  { name: 'a close in no UTF-8', frames: [INIT, frame(Buffer.from([0x03, 0xe8, 0xff]), { opcode: 8 })], closes: [1002, 1007, 1000, 4400, 'gone'] },
  { name: 'S05a: a subscription before the init', frames: [subscribe('1')], closes: [4401] },
  { name: 'S05e: two inits', frames: [INIT, INIT], closes: [4429] },
  { name: 'S05f: a message of no known type', frames: [INIT, text({ type: 'start', id: '1' })], closes: [4400] },
  { name: 'S05g: half a message', frames: [INIT, frame('{"type":"ping"')], closes: [4400] },
  { name: 'an init 5,000 deep', frames: [frame(deep(5_000))], closes: [4400] },
  { name: 'an init of 40,000 bytes', frames: [text({ type: 'connection_init', payload: { x: 'x'.repeat(40_000) } })], closes: ['open'] },
  { name: 'an init of a megabyte', frames: [text({ type: 'connection_init', payload: { x: 'x'.repeat(1_000_000) } })], closes: [4400, 'gone'] },
  { name: 'a megabyte of pings before the init', frames: [whole(many(8_000, () => frame('x'.repeat(125), { opcode: 9 })))], closes: [4400, 'gone'] },
  { name: 'a ping that wants a megabyte back', frames: [INIT, text({ type: 'ping', payload: { x: 'x'.repeat(1_000_000) } })], closes: ['open', 4400] },
  { name: 'a ping of 150,000 lists', frames: [INIT, text({ type: 'ping', payload: { x: many(150_000, () => []) } })], closes: ['open', 4400] },
  { name: 'an id of 100,000 letters', frames: [INIT, subscribe('x'.repeat(100_000))], closes: [4400] },
  { name: 'an id of none', frames: [INIT, subscribe('')], closes: [4400] },
  { name: 'the same id twice', frames: [INIT, subscribe('1'), subscribe('1')], closes: [4409] },
  { name: 'ids named like what objects have', frames: [INIT, subscribe('__proto__'), subscribe('constructor'), text({ type: 'complete', id: '__proto__' })], closes: ['open'] },
  { name: 'a batch as a message', frames: [INIT, text([{ type: 'ping' }])], closes: [4400] },
  { name: 'a hundred and twenty subscriptions', frames: [INIT, whole(many(120, (n) => subscribe(`s${n}`)))], closes: ['open'], worth: 120 },
  { name: 'a thousand subscriptions that end at once', frames: [INIT, whole(many(1_000, (n) => Buffer.concat([subscribe(`s${n}`), text({ type: 'complete', id: `s${n}` })])))], closes: ['open'], worth: 1_000 },
  { name: 'a thousand ends of nothing', frames: [INIT, whole(many(1_000, (n) => text({ type: 'complete', id: `n${n}` })))], closes: ['open'], worth: 500 },
  { name: 'a thousand broken documents', frames: [INIT, whole(many(1_000, (n) => subscribe(`b${n}`, `{ ...F0 } fragment F0 on Query { ...F0 }`)))], closes: ['open'], worth: 1_000 },
  { name: 'a thousand requests at once', frames: [INIT, whole(many(1_000, (n) => subscribe(`q${n}`, '{ viewer { did } }')))], closes: ['open'], worth: 1_000 },
];
