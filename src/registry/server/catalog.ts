import { jsonAnswer } from './answers.js';
import type { RegistryResponse } from './http.js';
import { toPage } from './pages.js';
import type { Ask, RegistryRoom } from './room.js';
import { unknownName } from './tags.js';

/** The repositories, as Docker's registry lists them; no part of the specification. */
export function answerCatalog({ index, rules }: RegistryRoom, { query, subject }: Ask): RegistryResponse {
  const { entries, headers } = toPage(index.current().names(), (name) => name, query, '/v2/_catalog', rules.pageEntries);
  return jsonAnswer(200, { repositories: entries }, subject, headers);
}

/** (distribution-spec, extensions/_oci.md) */
export function answerExtensions({ index }: RegistryRoom, { subject }: Ask, repository: string | undefined): RegistryResponse {
  if (repository !== undefined && index.current().find(repository) === undefined) throw unknownName(repository);
  const discovery = {
    name: '_oci',
    description: 'Lists the extensions of this registry',
    url: 'https://github.com/opencontainers/distribution-spec/blob/main/extensions/_oci.md',
    endpoints: ['_oci/ext/discover'],
  };
  return jsonAnswer(200, { extensions: [discovery] }, subject);
}
