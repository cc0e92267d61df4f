// Writes src/graphql/generated.ts: types and typed documents from ../schema.graphql and src/graphql/*.graphql.
// Calls the code generator's core directly: its command line brings loaders for a dozen sources not used here.
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { codegen } from '@graphql-codegen/core';
import * as typedDocuments from '@graphql-codegen/typed-document-node';
import * as operationTypes from '@graphql-codegen/typescript-operations';
import { parse } from 'graphql';

const folder = new URL('../src/graphql/', import.meta.url);
const schema = parse(await readFile(new URL('../../schema.graphql', import.meta.url), 'utf8'));
const names = (await readdir(folder)).filter((name) => name.endsWith('.graphql')).sort();
const documents = await Promise.all(
  names.map(async (name) => ({
    location: name,
    document: parse(await readFile(new URL(name, folder), 'utf8')),
  })),
);

const code = await codegen({
  filename: 'generated.ts',
  schema,
  documents,
  config: {
    scalars: { ID: 'string', DateTime: 'string', JSON: 'unknown' },
    enumsAsTypes: true,
    immutableTypes: true,
    skipTypename: true,
    useTypeImports: true,
    // As text: parsed documents would be a third of the page.
    documentMode: 'string',
  },
  plugins: [{ types: {} }, { documents: {} }],
  pluginMap: { types: operationTypes, documents: typedDocuments },
});
await writeFile(new URL('generated.ts', folder), code);
