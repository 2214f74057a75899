/**
 * The closed table of everything that can stop modelport. `exit` is the process status (1 the package has errors,
 * 2 wrong usage, 3 the world, 70 a bug of ours); `title` one line for docs/error-codes.md, which is generated from here.
 */
export const errorCodes = {
  'core/bad-digest': { exit: 2, title: 'A text that should be a digest is not one' },
  'core/bad-reference': { exit: 2, title: 'A package name does not follow the grammar' },
  'core/bad-location': { exit: 2, title: 'A location cannot be understood' },
  'core/bad-json': { exit: 1, title: 'A JSON document is malformed, repeats a key, is nested too deep or is too large' },
  'core/bug': { exit: 70, title: 'A bug of modelport itself' },
  'core/cancelled': { exit: 3, title: 'The work was cancelled' },

  'bytes/unsafe-path': { exit: 1, title: 'A path of a package leaves its root or cannot exist on disk' },
  'bytes/bad-archive': { exit: 1, title: 'An archive is malformed, truncated or lies about itself' },
  'bytes/bad-compression': { exit: 1, title: 'A gzip or zstd stream is malformed or truncated' },
  'bytes/limit': { exit: 1, title: 'Something that is read is larger, deeper or more numerous than its limit' },
  'bytes/refused-entry': { exit: 1, title: 'An archive holds an entry that a package may not hold' },
  'bytes/digest-mismatch': { exit: 1, title: 'Bytes do not hash to the digest that was promised' },
  'bytes/size-mismatch': { exit: 1, title: 'There are more or fewer bytes than was promised' },
  'bytes/file-changed': { exit: 3, title: 'A file changed while it was being read' },
  'bytes/not-found': { exit: 3, title: 'A file or folder does not exist' },
  'bytes/exists': { exit: 3, title: 'The target exists already' },
  'bytes/disk-full': { exit: 3, title: 'The disk is full' },
  'bytes/io': { exit: 3, title: 'The operating system refused to read or write' },

  'weights/bad-header': { exit: 1, title: 'A weight file contradicts itself or its size' },
  'weights/missing-file': { exit: 1, title: 'A weight file names another file that is not there' },

  'oci/bad-manifest': { exit: 1, title: 'A manifest or index is not valid JSON of its kind' },
  'oci/not-found': { exit: 3, title: 'A blob or manifest is missing' },
  'oci/too-large': { exit: 1, title: 'A manifest would be larger than registries take' },

  'store/name-not-found': { exit: 3, title: 'A name is not in the store, layout or archive' },
  'store/ambiguous': { exit: 2, title: 'A layout or archive holds several packages and none was chosen' },
  'store/not-a-layout': { exit: 3, title: 'A folder or file is not an OCI layout, OCI archive or docker archive' },
  'store/not-an-image': { exit: 1, title: 'A docker archive takes images with uncompressed layers only' },
  'store/locked': { exit: 3, title: 'Another process holds the lock of the store' },
  'store/blob-missing': { exit: 1, title: 'The store lacks a blob that a manifest names' },

  'registry/unreachable': { exit: 3, title: 'A registry cannot be reached' },
  'registry/interrupted': { exit: 3, title: 'A transfer broke off, stalled or was cut short' },
  'registry/untrusted': { exit: 3, title: 'The certificate of a registry is not trusted' },
  'registry/login': { exit: 3, title: 'A registry asks for a login, or does not accept the one it got' },
  'registry/denied': { exit: 3, title: 'A registry knows who asks and does not allow it' },
  'registry/not-found': { exit: 3, title: 'A registry has no such repository, package or blob' },
  'registry/refused': { exit: 3, title: 'A registry refused what was sent' },
  'registry/busy': { exit: 3, title: 'A registry asks to wait longer than is worth waiting' },
  'registry/bad-answer': { exit: 3, title: 'A registry answered what the protocol does not allow' },
  'registry/bad-address': { exit: 3, title: 'A registry sends elsewhere: a redirect, token service or upload address that is not followed' },
  'registry/unsupported': { exit: 3, title: 'A registry does not have this part of the protocol' },
  'registry/bad-access-file': { exit: 2, title: 'A file of passwords or tokens for the registry server is malformed' },
  'registry/cannot-listen': { exit: 3, title: 'The registry server cannot listen at an address, or not with this certificate' },
  'registry/credentials': { exit: 3, title: 'Credentials cannot be read or kept' },

  'buildfile/bad-glob': { exit: 2, title: 'A file pattern is malformed or leads out of its folder' },
  'buildfile/syntax': { exit: 1, title: 'A build file (modelport.toml, Modelfile, Kitfile) has a syntax error' },
  'buildfile/invalid': { exit: 1, title: 'A build file says something that cannot be' },
  'buildfile/exists': { exit: 3, title: 'init would overwrite an existing modelport.toml' },

  'format/unknown': { exit: 1, title: 'No format recognises the package' },
  'format/unsupported': { exit: 2, title: 'The operation is not available for this format' },

  'modelpack/unreadable': { exit: 1, title: 'A ModelPack cannot be read at all' },
  'modelpack/cannot-write': { exit: 1, title: 'The package cannot be written as this ModelPack vintage' },

  'carton/unreadable': { exit: 1, title: 'A carton cannot be read at all' },
  'carton/bad-tensor': { exit: 1, title: 'A tensor of a carton contradicts its index or is missing' },
  'carton/cannot-write': { exit: 1, title: 'The package cannot be written as a carton' },

  'http/unreachable-file': { exit: 3, title: 'A file cannot be fetched from its URL' },
  'http/no-ranges': { exit: 3, title: 'A server does not give parts of a file, or gives others than were asked for' },
  'http/changed': { exit: 3, title: 'A file at a server changed while it was being read' },
  'http/offline': { exit: 3, title: 'Something has to be fetched and the network is switched off' },
  'http/link-failed': { exit: 3, title: 'No URL of a linked file gives the bytes that were promised' },

  'tensors/bad-array': { exit: 1, title: 'A tensor file or value is malformed, or is not what was declared' },

  'runtime/not-available': { exit: 3, title: 'A runtime or framework version that a model needs is not on this machine' },
  'runtime/no-runtime': { exit: 3, title: 'No runtime of modelport runs models of this kind' },
  'runtime/wrong-platform': { exit: 3, title: 'A model is not made for this machine' },
  'runtime/no-consent': { exit: 3, title: 'Code from a package may not run without consent' },
  'runtime/bad-input': { exit: 1, title: 'An input is missing, unknown, or has another dtype or shape than the model declares' },
  'runtime/bad-output': { exit: 1, title: 'A model gave something else than it declares' },
  'runtime/failed': { exit: 1, title: 'A model could not be loaded, or its code failed' },
  'runtime/crashed': { exit: 1, title: 'The process of a model ended unexpectedly' },
  'runtime/timeout': { exit: 1, title: 'A model did not answer in time' },
  'runtime/protocol': { exit: 1, title: 'The process of a model does not keep to the protocol' },

  'ops/nothing-to-pack': { exit: 1, title: 'The folder holds no file to pack' },
  'ops/bad-option': { exit: 2, title: 'An option or argument is wrong' },
  'ops/path-not-found': { exit: 3, title: 'The package has no file of that path' },
  'ops/refused': { exit: 1, title: 'The package is refused because it has errors' },

  'cli/usage': { exit: 2, title: 'The command line is not understood' },
} as const satisfies Record<string, { exit: 1 | 2 | 3 | 70; title: string }>;

export type ErrorCode = keyof typeof errorCodes;
