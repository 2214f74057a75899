import * as v from 'valibot';
import type { Limits } from '../core/index.js';
import { judge, listOf, parseToml, readPersonText, table, tableOf, text, toInvalidError } from '../text/index.js';

/** What a person settled about one registry, once and for all commands. Files are as they were written. */
export interface RegistrySettings {
  /** Asked first when something is read: `HOST[:PORT][/PREFIX]`, with `http://` before it for one without TLS. */
  readonly mirrors?: readonly string[] | undefined;
  readonly plain_http?: boolean | undefined;
  /** Other hosts that may get this registry's login, because they hand out its tokens. */
  readonly token_hosts?: readonly string[] | undefined;
}

export interface UserConfig {
  /** By host, as in package names; `*` holds for every registry. */
  readonly registry: Readonly<Record<string, RegistrySettings>>;
}

const schema = table({
  registry: v.optional(
    tableOf(
      table({
        mirrors: v.optional(listOf(text)),
        plain_http: v.optional(v.boolean('true or false')),
        token_hosts: v.optional(listOf(text)),
      }),
      'a table',
    ),
  ),
});

/** Where nobody wrote anything. */
export const emptyUserConfig: UserConfig = { registry: {} };

/**
 * `config.toml` of the person who runs the program. Throws `buildfile/syntax` and `buildfile/invalid` with line
 * and column.
 */
export async function readUserConfig(path: string, limits: Limits): Promise<UserConfig> {
  const document = parseToml(await readPersonText(path, limits), path, limits);
  const { output, findings } = judge(schema, document);
  if (findings.length > 0) throw toInvalidError(path, findings);
  return { registry: output.registry ?? {} };
}
