// The id of a reissue: the old one with something fresh after it, well within the bound of an id.
const OLD_PART = 120;

export function newOperationId(old: string): string {
  return `${old.slice(0, OLD_PART)}.reissue-${crypto.randomUUID().slice(0, 8)}`;
}
