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
    query: `# What needs a person's eye, and how much is due.
query Attention {
  statistics {
    attention {
      reason
      count
    }
    dueOperations
    dueWatches
    oldestDueAt
  }
}
`,
  },
  {
    query: `# One document: what became of its writes.
query Document($id: String!) {
  document(id: $id) {
    writeState
    inFlight {
      operationId
      state
      nextAttemptAt
    }
    lastCommit {
      operationId
      updatedAt
    }
    watch {
      status
      attempts
      nextAttemptAt
    }
    winner {
      digest
    }
  }
}
`,
    variables: '{ "id": "document-1" }',
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
  {
    query: `# How much work is due, now and whenever that changes: what a worker waits for.
subscription WorkDue {
  workDue {
    operations
    watches
    nextDueAt
  }
}
`,
  },
];
