// Writes persisted-documents.json, or the file that it is given: what the page asks of the server, by the SHA-256 of the
// exact text that it sends. For `writewatch serve --persisted-documents FILE`, where nothing else runs; add your own to it.
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequest, stringifyDocument } from '@urql/core';
import ts from 'typescript';

// The documents as the page has them, fragments included: what the code generator wrote, without its types.
const generated = await readFile(new URL('../src/graphql/generated.ts', import.meta.url), 'utf8');
const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 };
const { outputText } = ts.transpileModule(generated, { compilerOptions });
const exported = await import(`data:text/javascript,${encodeURIComponent(outputText)}`);

const isOperation = (text) => /^\s*(query|mutation|subscription)\b/.test(text);
const documents = Object.values(exported).filter((document) => typeof document === 'object').map(String).filter(isOperation);
if (documents.length === 0) throw new Error('src/graphql/generated.ts has no operations');
// A socket sends them as they are; by POST they go as the client writes them.
const asPosted = (text) => stringifyDocument(createRequest(text, {}).query);
const texts = [...new Set([...documents, ...documents.map(asPosted)])].sort();
const list = Object.fromEntries(texts.map((text) => [createHash('sha256').update(text).digest('hex'), text]));

const file = process.argv[2] ?? new URL('../persisted-documents.json', import.meta.url);
await writeFile(file, `${JSON.stringify(list, null, 2)}\n`);
