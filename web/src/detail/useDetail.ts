// Reads one operation or watch, and again whenever the feed tells of a change to it or its lease is about to end.
import { useEffect, useState } from 'react';
import { read } from '../graphql/client';
import { DetailDocument, type DetailQuery } from '../graphql/generated';
import { feed } from '../live/feed';

export type Detail = NonNullable<DetailQuery['node']>;
export type OperationDetail = Extract<Detail, { __typename: 'Operation' }>;
export type WatchDetail = Extract<Detail, { __typename: 'Watch' }>;

interface Reading {
  id: string;
  // undefined: not read yet. null: there is no such node.
  node: Detail | null | undefined;
  error: unknown;
}

// A renewed lease makes no change, so it is read again shortly before its end.
const BEFORE_LEASE_END_MS = 2_000;
const SHORTEST_WAIT_MS = 1_000;

export function useDetail(id: string): Reading & { reload: () => void } {
  const [reading, setReading] = useState<Reading>({ id, node: undefined, error: undefined });
  const [turn, setTurn] = useState(0);

  useEffect(() => {
    let current = true;
    read(DetailDocument, { id }).then(
      ({ node }) => {
        if (current) setReading({ id, node, error: undefined });
      },
      (error: unknown) => {
        if (current) setReading((before) => ({ id, node: before.id === id ? before.node : undefined, error }));
      },
    );
    return () => {
      current = false;
    };
  }, [id, turn]);

  useEffect(() => {
    const again = (): void => {
      setTurn((turn) => turn + 1);
    };
    return feed.listen({
      restarted: again,
      changed: (batch) => {
        if (batch.some(({ node }) => node?.id === id)) again();
      },
      reached: again,
    });
  }, [id]);

  const lease = reading.node?.__typename === 'Operation' && reading.node.lease?.live ? reading.node.lease : undefined;
  useEffect(() => {
    if (!lease) return undefined;
    const left = Date.parse(lease.expiresAt) - Date.now();
    const wait = left > 2 * BEFORE_LEASE_END_MS ? left - BEFORE_LEASE_END_MS : Math.max(left, SHORTEST_WAIT_MS);
    const timer = setTimeout(() => {
      setTurn((turn) => turn + 1);
    }, wait);
    return () => {
      clearTimeout(timer);
    };
  }, [lease]);

  const reload = (): void => {
    setTurn((turn) => turn + 1);
  };
  return reading.id === id ? { ...reading, reload } : { id, node: undefined, error: undefined, reload };
}
