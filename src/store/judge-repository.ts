import { createError, isRepository } from '../core/index.js';

/** Throws `core/bad-reference` for what is no name of a repository; to be called before it becomes a path. */
export function judgeRepository(repository: string): string {
  if (isRepository(repository)) return repository;
  throw createError('core/bad-reference', {
    message: `Cannot use the repository ${JSON.stringify(repository.slice(0, 300))}: expected a name as demo/digits`,
    hint: 'A repository is written as a-z, 0-9 and single . _ __ - between them, in parts joined by /, without a host',
  });
}
