import { jsonAnswer } from './answers.js';
import type { RegistryResponse } from './http.js';
import { toPage } from './pages.js';
import { Refusal } from './refusal.js';
import type { Ask, RegistryRoom } from './room.js';

/** (distribution-spec 1.1, end-8) */
export async function answerTags(room: RegistryRoom, { query, subject }: Ask, repository: string): Promise<RegistryResponse> {
  const upstream = await room.mirror?.listTags(repository);
  const roots = room.index.current().find(repository);
  if (roots === undefined && upstream === undefined && room.store.listClaims(repository).length === 0) throw unknownName(repository);
  const tags = [...new Set([...(roots?.tags.keys() ?? []), ...(upstream ?? [])])].sort();
  const { entries, headers } = toPage(tags, (tag) => tag, query, `/v2/${repository}/tags/list`, room.rules.pageEntries);
  return jsonAnswer(200, { name: repository, tags: entries }, subject, headers);
}

export function unknownName(name: string): Refusal {
  return new Refusal(404, 'NAME_UNKNOWN', 'The registry has no such repository', { detail: { name } });
}
