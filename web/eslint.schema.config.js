// schema.graphql by the rules that GraphQL's and Relay's communities recommend, each exception with its reason. Run from
// the project's root, where the schema lies.
import graphql from '@graphql-eslint/eslint-plugin';

const { configs } = graphql;

// What is looked at as a part of something else, counted, or told of once: nobody asks for one by its id.
const VALUES = [
  ...['AccessGrant'],
  ...['OutcomeBucket', 'PageInfo', 'ServerStatus', 'Statistics', 'UpkeepStatus', 'Viewer', 'WorkDue'],
  ...['Change', 'DocumentChange', 'OperationChange', 'VerificationResult', 'WatchChange'],
  ...['EntityTrim', 'Lease', 'ObservationDecision', 'ObservationRepair', 'SweepCheckpoint', 'Winner'],
];
// Known by a name that is not ours to give: the local store's, a provider's.
const NAMED_ELSEWHERE = ['Document', 'PendingAuth'];

export default [
  {
    files: ['schema.graphql'],
    plugins: { '@graphql-eslint': graphql },
    languageOptions: { parser: graphql.parser, parserOptions: { graphQLConfig: { schema: 'schema.graphql' } } },
    rules: {
      ...configs['flat/schema-recommended'].rules,
      ...configs['flat/schema-relay'].rules,
      '@graphql-eslint/strict-id-in-types': [
        'error',
        { exceptions: { types: [...VALUES, ...NAMED_ELSEWHERE], suffixes: ['Payload', 'Connection', 'Edge', 'Count', 'Total'] } },
      ],
      // Short, bounded lists need no pages, and a page has its `nodes` beside its `edges`. What is listed need not be a node:
      // changes and documents are none.
      '@graphql-eslint/relay-edge-types': [
        'error',
        { withEdgeSuffix: true, listTypeCanWrapOnlyEdgeType: false, shouldImplementNode: false },
      ],
      // Work that is due, and what a worker goes through, is read forwards only.
      '@graphql-eslint/relay-arguments': ['error', { includeBoth: false }],
      // Operation.operationId is its caller's name for it, as the worker's package calls it; `id` is another thing.
      '@graphql-eslint/no-typename-prefix': 'off',
    },
  },
];
