// Empties dist/ before a build, except for the checked-in .gitignore that keeps the folder in a fresh clone.
import { mkdir, readdir, rm } from 'node:fs/promises';

const dist = new URL('../dist/', import.meta.url);
await mkdir(dist, { recursive: true });
for (const name of await readdir(dist)) {
  if (name !== '.gitignore') await rm(new URL(name, dist), { recursive: true });
}
