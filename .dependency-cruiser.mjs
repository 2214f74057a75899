/**
 * The arrows between the rooms (docs/architecture.md). A breach prints the rule's sentence.
 * scripts/check-arrows.mjs runs this and proves that every module of src was read.
 */

const tests = '[.]test[.]ts$';

/** Rooms on one level: each may use what lies below, none may use another. */
const siblings = 'store|formats|buildfile|registry|runtimes';

/** The one room that may import each package; the others go through that room's own words. */
const homes = {
  '@bokuweb/zstd-wasm': 'bytes',
  fzstd: 'bytes',
  'smol-toml': 'text',
  yaml: 'buildfile',
  valibot: 'formats|buildfile|text',
  'https-proxy-agent': 'http',
  'http-proxy-agent': 'http',
  'prom-client': 'registry/server',
  pino: 'registry/server',
  bcryptjs: 'registry/server',
  'onnxruntime-node': 'runtimes/onnx',
  commander: 'cli',
  '@commander-js/extra-typings': 'cli',
  '@clack/prompts': 'cli',
  'log-update': 'cli',
  picocolors: 'cli',
};

const room = (name, comment, from, to) => ({
  name,
  comment,
  severity: 'error',
  from: { path: `^src/(${from})/`, pathNot: tests },
  to: { path: '^src/', pathNot: `^src/(${to})/` },
});

const home = ([name, rooms]) => ({
  name: `home-of-${name}`,
  comment: `${name} may be replaced by changing one room, so only ${rooms} imports it.`,
  severity: 'error',
  from: { path: '^src/', pathNot: [`^src/(${rooms})/`, tests] },
  to: { path: `^node_modules/${name}/` },
});

export default {
  forbidden: [
    {
      name: 'no-cycles',
      comment: 'Modules that import each other can only be understood together, and load in an order nobody chose.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-orphans',
      comment: 'A file that nothing imports and that imports nothing is dead.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '[.]d[.]ts$' },
      to: {},
    },
    {
      name: 'nothing-unresolvable',
      comment: 'An import that cannot be found escapes every other rule.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
    {
      name: 'core-imports-nothing',
      comment: 'core is the vocabulary of every room and must run anywhere, in a browser too: no packages, no modules of Node.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: tests },
      to: { pathNot: '^src/core/' },
    },
    room('core-is-the-floor', 'Nothing lies below core, for its tests neither.', 'core', 'core'),
    room('bytes-to-core-only', 'Streams, archives and paths know nothing of models or formats.', 'bytes', 'bytes|core'),
    room(
      'weights-to-tensors-bytes-and-core-only',
      'Weight headers are read the same way wherever the file lies and whatever packs it; the header of .npy is the same for a tensor.',
      'weights',
      'weights|tensors|bytes|core',
    ),
    room('http-to-bytes-and-core-only', 'Requests are the same for a registry, a linked file and a package at a URL.', 'http', 'http|bytes|core'),
    room('tensors-to-bytes-and-core-only', 'A tensor is the same in every format and for every runtime.', 'tensors', 'tensors|bytes|core'),
    room('text-to-bytes-and-core-only', 'What a person wrote is read the same way, whatever it is about.', 'text', 'text|bytes|core'),
    room('oci-to-bytes-and-core-only', 'Manifests and graphs are the same in a store, an archive and a registry.', 'oci', 'oci|bytes|core'),
    {
      name: 'siblings-never-meet',
      comment: 'Formats know what bytes mean, places know where bytes are; what two of them need lies one level down, and ops joins them.',
      severity: 'error',
      from: { path: `^src/(${siblings})/`, pathNot: tests },
      to: { path: '^src/', pathNot: ['^src/(core|bytes|oci|http|text|tensors|weights)/', '^src/$1/'] },
    },
    {
      name: 'client-and-server-never-meet',
      comment: 'Each must stand against registries and clients of others; where they would share a mistake neither would show it.',
      severity: 'error',
      from: { path: '^src/registry/(client|server)/', pathNot: tests },
      to: { path: '^src/registry/', pathNot: '^src/registry/$1/' },
    },
    {
      name: 'buildfile-to-text-bytes-and-core-only',
      comment: 'A build file is a description of files: it knows neither manifests nor stores nor servers.',
      severity: 'error',
      from: { path: '^src/buildfile/' },
      to: { path: '^src/(oci|http|tensors)/' },
    },
    {
      name: 'formats-talk-to-nobody',
      comment: 'A format says what bytes mean: it never fetches any.',
      severity: 'error',
      from: { path: '^src/(formats|runtimes)/' },
      to: { path: '^src/http/' },
    },
    {
      name: 'runtimes-know-no-manifests',
      comment: 'A runtime is given a folder and tensors, whatever package they came in.',
      severity: 'error',
      from: { path: '^src/runtimes/', pathNot: tests },
      to: { path: '^src/oci/' },
    },
    {
      name: 'formats-never-meet',
      comment: 'Each format is a folder that can be taken out; a conversion goes through the neutral package.',
      severity: 'error',
      from: { path: '^src/formats/([^/]+)/' },
      to: { path: '^src/formats/', pathNot: '^src/formats/$1/' },
    },
    {
      name: 'ops-below-the-surface',
      comment: 'The verbs serve a terminal, a page and a library alike, so they know none of them.',
      severity: 'error',
      from: { path: '^src/ops/' },
      to: { path: '^src/(cli/|index[.]ts$)' },
    },
    {
      name: 'cli-is-thin',
      comment: 'A command is options, one call into ops, and a rendering; whatever else it would need belongs to ops.',
      severity: 'error',
      from: { path: '^src/cli/' },
      to: { path: '^src/', pathNot: ['^src/cli/', '^src/(ops|core)/index[.]ts$'] },
    },
    {
      name: 'use-the-front-door',
      comment: "Another room is used through its index, so that the room's inside can change.",
      severity: 'error',
      from: { path: '^src/([^/]+)/' },
      to: { path: '^src/', pathNot: ['^src/$1/', '/index[.]ts$'] },
    },
    {
      name: 'library-opens-front-doors-only',
      comment: 'What the package exports is what the rooms export.',
      severity: 'error',
      from: { path: '^src/[^/]+[.]ts$' },
      to: { path: '^src/', pathNot: '/index[.]ts$' },
    },
    {
      name: 'nobody-spawns',
      comment: 'Starting other programs is dangerous and slow; a room that has to is named here.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/registry/client/auth/credential-helper[.]ts$', '^src/runtimes/child/', tests] },
      to: { path: '^(node:)?child_process$' },
    },
    {
      name: 'fs-has-few-homes',
      comment: 'Files are touched where limits, safe paths and crash safety are kept; other rooms take a FileTree or bytes.',
      severity: 'error',
      from: { path: '^src/', pathNot: ['^src/(bytes|store|registry/client|http|runtimes|ops|cli)/', tests] },
      to: { path: '^(node:)?fs(/promises)?$' },
    },
    {
      name: 'src-never-imports-tests',
      comment: 'Tests and their support are not shipped.',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { path: `^(test|bench|scripts)/|${tests}` },
    },
    {
      name: 'every-package-has-a-home',
      comment: 'A package enters the product through the table of homes in .dependency-cruiser.mjs and a row in docs/dependencies.md.',
      severity: 'error',
      from: { path: '^src/', pathNot: tests },
      to: { path: '^node_modules/', pathNot: `^node_modules/(${Object.keys(homes).join('|')})/` },
    },
    ...Object.entries(homes).map(home),
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'require', 'node', 'default', 'types'],
      mainFields: ['module', 'main', 'types'],
    },
  },
};
