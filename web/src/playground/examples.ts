// The tabs a first visit to the playground opens with.
export const EXAMPLES = [
  {
    query: `# The latest operations, and what happened to each.
query LatestOperations {
  operations(orderBy: UPDATED_DESC, first: 10) {
    nodes {
      id
      operationId
      state
      attempts
      changes(last: 3) {
        nodes {
          at
          transition
          toState
        }
      }
    }
  }
}
`,
  },
  {
    query: `# Every change on this server from now on.
subscription Changes {
  changes {
    cursor
    at
    transition
    entity
    fromState
    toState
    documentId
    facts
  }
}
`,
  },
];
