// Hostile requests as any transport can carry them: what is asked, and whether it is refused (nothing runs, no data) or may
// be answered. Data alone; each has a name, and none needs anything in the database.
import { getIntrospectionQuery } from 'graphql';

const times = (count, text) => Array.from({ length: count }, (_, n) => (typeof text === 'function' ? text(n) : text)).join('');
const around = (open, depth, inner, close) => open.repeat(depth) + inner + close.repeat(depth);
const list = (count, item) => Array.from({ length: count }, (_, n) => (typeof item === 'function' ? item(n) : item));
const LOOK = (argument) => `{ operation(callerDid: ${argument}, operationId: "x") { id } }`;
// Variables as text: deeper than what writes JSON here can write.
const DEEP = (value) => ({ query: '{ viewer { did } }', variablesJson: `{"x":${value}}` });
const CLAIM = 'claimOperation(input: $input) { outcome }';
const BULK = 'mutation ($inputs: [ClaimOperationInput!]!) { claimOperations(inputs: $inputs) { outcome } }';
const claims = (count) => `mutation ($input: ClaimOperationInput!) { ${times(count, (n) => `c${n}: ${CLAIM} `)} }`;
const INPUT = {
  callerDid: 'did:example:hostile', operationId: 'hostile', ownerDid: 'did:example:hostile', connectorName: 'hostile', model: 'm',
  op: 'CREATE', accountKey: 'a', target: 't', deterministicEventId: 'e', payloadHash: 'h', leaseToken: 'l', leaseMs: 60_000,
};
const INTROSPECTION = getIntrospectionQuery({ descriptions: true, specifiedByUrl: true, directiveIsRepeatable: true, inputValueDeprecation: true });
const introspections = (count) => {
  const inside = INTROSPECTION.slice(INTROSPECTION.indexOf('{') + 1, INTROSPECTION.indexOf('fragment FullType')).trim().slice(0, -1);
  return `{ ${inside.repeat(count)} } ${INTROSPECTION.slice(INTROSPECTION.indexOf('fragment FullType'))}`;
};
// Fragments that spread the next one several times: `fanout ** levels` fields.
const fans = (levels, fanout, leaf) =>
  `{ ...F0 } ${times(levels, (n) => `fragment F${n} on Query { ${`...F${n + 1} `.repeat(fanout)} } `)}fragment F${levels} on Query { ${leaf} }`;
const typesIn = (depth) => `{ __schema { types { ${around('fields { type { ofType { ', depth, 'name', ' } } }')} } } }`;
const pageOf = (fields) => `{ operations(first: 100) { nodes { document { operations(first: 100) { nodes { ${fields} } } } } } }`;
const circlesIn = (depth) => `{ __type(name: "Node") { ${around('possibleTypes { interfaces { ', depth, 'name', ' } }')} } }`;
const pages = (size, depth) => `{ operations${size} { nodes { ${around(`document { operations${size} { nodes { `, depth, 'id state', ' } } }')} } } }`;
// What the test puts into the database first: a hundred operations of one document, so that pages of pages are full, each with an
// intent that is nearly as large as one may be.
export const seeds = (count = 100) => ({
  query: BULK,
  variables: {
    inputs: list(count, (n) => ({ ...INPUT, callerDid: 'did:example:hostile-seed', operationId: `seed-${n}`, documentId: 'hostile' })),
  },
});
export const largeSeed = (n) => ({
  query: `mutation ($input: ClaimOperationInput!) { ${CLAIM} }`,
  variables: { input: { ...INPUT, callerDid: 'did:example:hostile-seed', operationId: `large-${n}`, documentId: 'hostile', reissueIntent: 'x'.repeat(250_000) } },
});

export const documents = [
  // Nesting
  { name: 'lists 1,600 deep', query: LOOK(around('[', 1_600, '', ']')) },
  { name: 'lists that never close', query: `{ operation(callerDid: ${'['.repeat(60_000)}` },
  { name: 'objects 1,600 deep', query: LOOK(around('{a:', 1_600, '1', '}')) },
  { name: 'lists in objects in lists', query: LOOK(around('[{a:', 800, '1', '}]')) },
  { name: 'selections 5,000 deep', query: `{${'viewer{'.repeat(5_000)}` },
  { name: 'selections 5,000 deep, closed', query: around('{a', 4_000, '', '}') },
  { name: 'parentheses 1,600 deep', query: `{ viewer${around('(a:', 1_600, '1', ')')} { did } }` },
  { name: 'nothing but closing brackets', query: `{ viewer { did } ${'}'.repeat(4_000)}` },
  { name: 'a list type 1,000 deep', query: `query ($x: ${around('[', 1_000, 'Int', ']')}) { viewer { did } }` },
  { name: 'a list type 60 deep', query: `query ($x: ${around('[', 60, 'Int', ']')}) { viewer { did } }`, expect: 'either' },
  { name: 'inline fragments 60 deep', query: around('{ ... ', 60, '{ viewer { did } }', '}') },
  { name: 'a default value 1,600 deep', query: `query ($x: JSON = ${around('[', 1_600, '', ']')}) { viewer { did } }` },
  { name: 'a default value 60 deep', query: `query ($x: JSON = ${around('[', 60, '', ']')}) { viewer { did } }`, expect: 'either' },
  { name: 'fields one deeper than allowed', query: `{ viewer { ${around('a { ', 16, 'b', ' }')} } }` },
  { name: 'a variable 100 deep', ...DEEP(around('[', 100, '', ']')), expect: 'either' },
  { name: 'a variable 5,000 deep', ...DEEP(around('[', 5_000, '', ']')) },
  { name: 'a variable 200,000 deep', ...DEEP(around('[', 200_000, '', ']')) },
  { name: 'a variable of objects 5,000 deep', ...DEEP(around('{"a":', 5_000, '1', '}')) },
  // Fragments
  { name: 'fragments eight by eight, twelve times', query: fans(12, 8, 'viewer { did }') },
  { name: 'fragments two by two, sixty times', query: fans(60, 2, 'viewer { did }') },
  { name: 'fragments in fragments to nowhere', query: fans(12, 8, '...Nowhere') },
  { name: 'fragments that mean nothing, many times', query: fans(12, 8, '... on Watch { id }') },
  { name: 'a fragment of itself', query: '{ ...A } fragment A on Query { ...A }' },
  { name: 'fragments of each other, doubled', query: '{ ...A } fragment A on Query { ...B ...B } fragment B on Query { ...A ...A }' },
  { name: 'a circle by way of fields', query: '{ document(id: "x") { ...A } } fragment A on Document { operations { nodes { document { ...A } } } }' },
  { name: 'an unused circle', query: '{ viewer { did } } fragment A on Query { ...B } fragment B on Query { ...A }' },
  { name: 'a chain of 600 fragments', query: `{ ...F0 } ${times(600, (n) => `fragment F${n} on Query { ...F${n + 1} } `)}` },
  { name: 'a thousand unused fragments', query: `{ viewer { did } } ${times(1_000, (n) => `fragment F${n} on Query { a } `)}` },
  { name: 'six hundred unused fragments that fit', query: `{ viewer { did } } ${times(600, (n) => `fragment F${n} on Query{viewer{did}} `)}` },
  { name: 'a thousand spreads of nothing', query: `{ ${times(1_000, (n) => `...N${n} `)} }` },
  { name: 'five hundred fragments of one name', query: `{ ...A } ${'fragment A on Query { viewer { did } } '.repeat(500)}` },
  { name: 'fragments on what is no object', query: '{ ...A ...B ...C } fragment A on Int { a } fragment B on Nope { a } fragment C on JSON { a }' },
  { name: 'inline fragments side by side', query: `{ ${'... { viewer { did } } '.repeat(1_000)} }` },
  { name: 'one field 1,900 times', query: `{ viewer { ${'did '.repeat(1_900)} } }`, expect: 'either' },
  { name: 'one object 600 times', query: `{ serverStatus { ${'upkeep { task } '.repeat(600)} } }`, expect: 'either' },
  { name: 'one field with 400 arguments that clash', query: `{ nodes(ids: []) { ... on Document { ${times(400, (n) => `operations(first: ${n % 100}) { totalCount } `)} } } }` },
  { name: 'fragments that all overlap', query: `{ document(id: "x") { ${times(40, (n) => `...F${n} `)} } } ${times(40, (n) => `fragment F${n} on Document { ${'id '.repeat(40)} } `)}`, expect: 'either' },
  { name: 'fragments that overlap and clash', query: `{ viewer { ${times(30, (n) => `...F${n} `)} } } ${times(30, (n) => `fragment F${n} on Viewer { ${times(30, (m) => `a: ${m % 2 ? 'did' : 'roles'} `)} } `)}` },
  // Aliases
  { name: 'T07b: 5,000 aliases of a claim', query: claims(5_000), variables: { input: INPUT } },
  { name: 'eleven aliases of a claim', query: claims(11), variables: { input: INPUT } },
  { name: 'thirty-one aliases', query: `{ viewer { ${times(31, (n) => `a${n}: did `)} } }` },
  { name: 'an alias of 60,000 letters', query: `{ viewer { ${'a'.repeat(60_000)}: did } }`, expect: 'either' },
  { name: 'aliases named like what objects have', query: '{ viewer { __proto__: did constructor: did toString: roles } }', expect: 'either' },
  // Directives
  { name: 'T07c: 10,000 directives', query: `{ viewer { did ${'@include(if: true) '.repeat(10_000)} } }` },
  { name: 'fifty-one directives', query: `{ viewer { did ${'@skip(if: false) '.repeat(51)} } }` },
  { name: 'forty directives that do not exist', query: `{ viewer { did ${times(40, (n) => `@nope${n} `)} } }` },
  { name: 'directives on variables', query: `query ($x: Int ${'@deprecated '.repeat(200)}) { viewer { did } }` },
  { name: 'directives spread over fragments', query: `{ ${times(30, (n) => `...F${n} @skip(if: true) `)} } ${times(30, (n) => `fragment F${n} on Query @nope { viewer @skip(if: true) { did } } `)}` },
  { name: 'a directive with a thousand arguments', query: `{ viewer { did @include(${times(1_000, (n) => `a${n}: true `)}) } }` },
  { name: 'directives twenty times the same', query: `{ viewer { did ${'@include(if: true) '.repeat(20)} } }`, expect: 'either' },
  // Tokens and sizes
  { name: 'thirty thousand names', query: `{ ${'a '.repeat(30_000)} }` },
  { name: 'sixty thousand signs', query: `{ ${'!'.repeat(60_000)} }` },
  { name: 'five thousand names that do not exist', query: `{ viewer { ${times(1_800, (n) => `n${n} `)} } }` },
  { name: 'a document of 64 KiB and a byte', query: `{ viewer { did } }${' '.repeat(64 * 1024 - 17)}` },
  { name: 'a document of 900 kB', query: `{ viewer { did } } #${'x'.repeat(900_000)}` },
  { name: 'nothing but a comment', query: `# ${'{'.repeat(60_000)}` },
  { name: 'twenty thousand comments', query: `{ viewer { did } ${'#\n'.repeat(20_000)} }`, expect: 'either' },
  { name: 'sixty thousand commas', query: `{ viewer { did } ${','.repeat(60_000)} }`, expect: 'either' },
  { name: 'a thousand byte order marks', query: `${'\ufeff'.repeat(1_000)}{ viewer { did } }`, expect: 'either' },
  { name: 'dots', query: `{ ${'... '.repeat(2_000)} }` },
  { name: 'arguments by the thousand', query: `{ viewer(${times(1_600, (n) => `a${n}: 1 `)}) { did } }` },
  // Strings
  { name: 'a string of 60,000 letters', query: LOOK(`"${'x'.repeat(60_000)}"`), expect: 'either' },
  { name: 'a string that does not end', query: `{ operation(callerDid: "${'x'.repeat(60_000)}` },
  { name: 'a block string that does not end', query: `{ operation(callerDid: """ " ${'['.repeat(2_000)}, operationId: "") { id } }` },
  { name: 'a block string of escaped quotes', query: LOOK(`"""${'\\"""'.repeat(12_000)}"""`), expect: 'either' },
  { name: 'a block string of 30,000 lines', query: LOOK(`"""${' \n'.repeat(30_000)}x"""`), expect: 'either' },
  { name: 'a block string that is all indentation', query: LOOK(`"""${times(240, (n) => `${' '.repeat(250 - n)}\n`)}"""`), expect: 'either' },
  { name: 'ten thousand escapes', query: LOOK(`"${'\\u0041'.repeat(10_000)}"`), expect: 'either' },
  { name: 'escapes that are none', query: LOOK('"\\q\\x41\\u00g0\\u{41}"') },
  { name: 'a lone surrogate in an escape', query: LOOK('"\\ud800"'), expect: 'either' },
  { name: 'surrogates the wrong way round', query: LOOK('"\\udc00\\ud800"'), expect: 'either' },
  { name: 'an escape beyond Unicode', query: LOOK('"\\u{110000}"') },
  { name: 'T10: a NUL in an argument', query: LOOK('"\\u0000"'), expect: 'either' },
  { name: 'a NUL in a document', query: '{ viewer { did \u0000 } }' },
  { name: 'control characters', query: `{ viewer { did ${'\u0001\u0008\u001b[2J\u007f'.repeat(100)} } }` },
  { name: 'letters of other alphabets as names', query: '{ viewer { d\u0456d \u202edid \u200bdid } }' },
  { name: 'sixty thousand bytes of accents on one letter', query: LOOK(`"e${'\u0301'.repeat(30_000)}"`), expect: 'either' },
  { name: 'a syntax error after 60,000 letters of four bytes', query: `{ viewer { did } } # ${'\u{1f600}'.repeat(15_000)}\n}` },
  // Numbers
  { name: 'a whole number of 60,000 digits', query: `{ operations(first: ${'9'.repeat(60_000)}) { totalCount } }` },
  { name: 'an exponent of nines', query: '{ operations(first: 1e999999999) { totalCount } }' },
  { name: 'a fraction of 60,000 digits', query: `query ($x: JSON = 0.${'1'.repeat(60_000)}) { viewer { did } }`, expect: 'either' },
  { name: 'a leading zero', query: '{ operations(first: 007) { totalCount } }' },
  { name: 'minus nothing', query: '{ operations(first: -) { totalCount } }' },
  ...['2147483648', '-2147483649', '9223372036854775808', '1.5', '"1"', 'true', 'ONE', '[1]'].map((first) => ({
    name: `a page of ${first}`, query: `{ operations(first: ${first}) { totalCount } }`,
  })),
  ...[-1, 101, 2 ** 31 - 1].map((first) => ({ name: `P02: a page of ${first}`, query: `{ operations(first: ${first}) { totalCount } }`, expect: 'either' })),
  { name: 'a lease beyond 32 bits', query: `mutation ($input: ClaimOperationInput!) { ${CLAIM} }`, variables: { input: { ...INPUT, leaseMs: 1e20 } } },
  // Variables
  { name: 'fifty thousand variables of no use', query: '{ viewer { did } }', variables: Object.fromEntries(list(50_000, (n) => [`v${n}`, n])), expect: 'either' },
  { name: 'a thousand variables defined', query: `query (${times(1_000, (n) => `$v${n}: Int `)}) { viewer { did } }` },
  { name: 'one variable defined 1,000 times', query: `query (${'$v: Int '.repeat(1_000)}) { viewer { did } }` },
  { name: 'a variable of every type there is not', query: `query (${times(800, (n) => `$v${n}: N${n} `)}) { viewer { did } }` },
  { name: 'a variable by default itself', query: 'query ($x: JSON = {a: $x}) { viewer { did } }' },
  { name: 'a variable in a variable', query: 'query ($x: JSON) { viewer { did } }', variables: { x: { $x: '$x' } }, expect: 'either' },
  { name: 'a variable named with 500,000 letters', query: '{ viewer { did } }', variables: { ['x'.repeat(500_000)]: 1 }, expect: 'either' },
  { name: 'variables named like what objects have', query: 'query ($__proto__: Int) { viewer { did } }', variables: JSON.parse('{"__proto__":1}'), expect: 'either' },
  { name: 'a hundred thousand ids', query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', variables: { ids: list(100_000, 'x') }, expect: 'either' },
  { name: 'a hundred thousand documents', query: 'query ($ids: [String!]!) { documents(ids: $ids) { id } }', variables: { ids: list(100_000, 'x') }, expect: 'either' },
  { name: 'a hundred thousand nulls where none may be', query: 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }', variables: { ids: list(100_000, null) } },
  { name: 'a filter of ten thousand documents', query: 'query ($f: OperationFilter) { operations(filter: $f) { totalCount } }', variables: { f: { documentIds: list(10_000, (n) => `d${n}`) } }, expect: 'either' },
  { name: 'a filter of a hundred thousand states', query: 'query ($f: OperationFilter) { operations(filter: $f) { totalCount } }', variables: { f: { states: list(100_000, 'DEAD') } }, expect: 'either' },
  { name: 'nine hundred kB in a key', query: 'query ($x: String!) { document(id: $x) { id } }', variables: { x: 'x'.repeat(900_000) }, expect: 'either' },
  { name: 'a search of 512 per cents', query: 'query ($x: String!) { search(text: $x) { id } }', variables: { x: '%'.repeat(512) }, expect: 'answered' },
  { name: 'a cursor of 500,000 letters', query: 'query ($x: String) { operations(after: $x) { totalCount } }', variables: { x: 'A'.repeat(500_000) }, expect: 'either' },
  { name: 'a cursor of another kind', query: 'query ($x: String) { changes(after: $x) { totalCount } }', variables: { x: Buffer.from('["a","b",{"c":[]}]').toString('base64url') }, expect: 'either' },
  { name: 'T03b: 501 claims in one', query: BULK, variables: { inputs: list(501, (n) => ({ ...INPUT, operationId: `bulk-${n}` })) }, expect: 'either', writes: false },
  { name: 'two thousand claims in one', query: BULK, variables: { inputs: list(2_000, (n) => ({ ...INPUT, operationId: `bulk-${n}` })) }, expect: 'either', writes: false },
  { name: 'five hundred broken claims', query: BULK, variables: { inputs: list(500, () => ({ ...INPUT, op: 'NOPE', leaseMs: 'x', nope: 1 })) } },
  { name: 'an input with 10,000 fields that do not exist', query: `mutation ($input: ClaimOperationInput!) { ${CLAIM} }`, variables: { input: Object.fromEntries(list(10_000, (n) => [`f${n}`, n])) } },
  { name: 'an intent of 900 kB', query: `mutation ($input: ClaimOperationInput!) { ${CLAIM} }`, variables: { input: { ...INPUT, reissueIntent: 'x'.repeat(900_000) } }, expect: 'either', writes: false },
  { name: 'an intent of 200,000 lists', query: `mutation ($input: ClaimOperationInput!) { ${CLAIM} }`, variables: { input: { ...INPUT, reissueIntent: list(200_000, () => []) } }, expect: 'either', writes: false },
  // Introspection
  { name: 'introspection, as GraphiQL asks it', query: INTROSPECTION, operationName: 'IntrospectionQuery', expect: 'answered' },
  { name: 'introspection ten times in one', query: introspections(10) },
  { name: 'the types of fields of types of fields', query: typesIn(4) },
  { name: 'the types of fields, three deep', query: typesIn(3) },
  { name: 'interfaces of types of interfaces, seven deep', query: circlesIn(7) },
  { name: 'interfaces of types of interfaces, four deep', query: circlesIn(4), expect: 'answered' },
  { name: 'the types sixty times', query: `{ __schema { ${'types { fields { name } } '.repeat(60)} } }`, expect: 'either' },
  { name: 'every type 1,800 times by name', query: `{ __schema { types { ${'name '.repeat(1_800)} } } }` },
  { name: 'every argument 1,500 times by name', query: `{ __schema { types { fields { args { ${'name '.repeat(1_500)} } } } } }` },
  { name: 'a type that wraps sixty types', query: `{ __type(name: "Query") { ${around('ofType { ', 60, 'name', ' }')} } }` },
  { name: 'ten types that do not exist', query: `{ ${times(10, (n) => `t${n}: __type(name: "${'x'.repeat(5_000)}") { name } `)} }`, expect: 'either' },
  { name: '__typename 1,900 times', query: `{ viewer { ${'__typename '.repeat(1_900)} } }`, expect: 'either' },
  // Pages
  { name: 'pages of a hundred in pages of a hundred in pages of a hundred', query: pages('(first: 100)', 2) },
  { name: 'pages without a size in one another', query: pages('', 3) },
  { name: 'a hundred pages of a hundred rows', query: pages('(first: 100)', 1), expect: 'answered' },
  { name: 'the largest answer there may be', query: pageOf('id operationId callerDid ownerDid connectorName model'), expect: 'answered' },
  { name: 'an answer too large by a field', query: pageOf('id operationId callerDid ownerDid connectorName model op accountKey target state') },
  { name: 'a page of a hundred JSON values of 250 kB', query: '{ operations(first: 100, orderBy: CREATED_DESC) { nodes { reissueIntent } } }', expect: 'answered' },
  { name: 'large JSON values in pages of pages', query: pageOf('reissueIntent') },
  { name: 'a page that says -100 in a variable', query: 'query ($n: Int) { operations(first: $n) { nodes { document { operations(first: $n) { nodes { id } } } } } }', variables: { n: -100 }, expect: 'either' },
  { name: 'every state a thousand times', query: `{ documentsByWriteState(states: [${'PENDING '.repeat(1_000)}]) { edges { node { id } } } }`, expect: 'either' },
  { name: 'two hundred parts of all time', query: '{ statistics { outcomes(from: "0001-01-01T00:00:00Z", to: "9999-12-31T00:00:00Z", buckets: 200) { count } } }', expect: 'either' },
  { name: 'statistics ten times in one', query: `{ ${times(10, (n) => `s${n}: statistics { attention { count } dueOperations dueWatches } `)} }`, expect: 'answered' },
  // Operations
  { name: 'an operation name that is not there', query: 'query A { viewer { did } }', operationName: 'B' },
  { name: 'an operation name of 500,000 letters', query: 'query A { viewer { did } }', operationName: 'A'.repeat(500_000) },
  { name: 'an operation named like what objects have', query: 'query __proto__ { viewer { did } }', operationName: '__proto__', expect: 'either' },
  { name: 'six hundred operations', query: times(600, (n) => `query Q${n} { viewer { did } } `), operationName: 'Q7', expect: 'either' },
  { name: 'six hundred operations of one name', query: 'query Q { viewer { did } } '.repeat(600), operationName: 'Q' },
  { name: 'a nameless operation among others', query: '{ viewer { did } } query A { viewer { did } }', operationName: 'A' },
  { name: 'several operations and no name', query: 'query A { viewer { did } } query B { viewer { did } }' },
  { name: 'definitions of types', query: `{ viewer { did } } ${times(300, (n) => `type T${n} { a: Int } `)}` },
  { name: 'nothing', query: '' },
  { name: 'a word', query: 'viewer' },
  { name: 'empty selections', query: '{ }' },
  { name: 'a mutation that runs one field twice', query: `mutation ($input: ClaimOperationInput!) { ${CLAIM} ${CLAIM} }`, variables: { input: INPUT } },
  { name: 'a mutation hidden behind a query', query: `query A { viewer { did } } mutation B($input: ClaimOperationInput!) { ${CLAIM} }`, variables: { input: INPUT } },
  { name: 'a subscription of two fields', query: 'subscription { a: changes { cursor } b: changes { cursor } }' },
  { name: 'a subscription in a fragment', query: 'subscription { ...A } fragment A on Subscription { changes { cursor } workDue { operations } }' },
  { name: 'a subscription to introspection', query: 'subscription { __typename }' },
  { name: 'a subscription that skips itself', query: 'subscription { changes @skip(if: true) { cursor } }' },
  { name: 'a subscription to ten thousand documents', query: 'subscription ($ids: [String!]!) { documentChanged(ids: $ids) { cursor } }', variables: { ids: list(10_000, (n) => `d${n}`) } },
];
