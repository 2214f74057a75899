import { resolveMember } from '../link-entries.js';
import { linksName, manifestName, unlisted } from '../spec.js';
import { childOf, type Item, memberPlace, rootOf, type RuleContext } from './context.js';
import { isHttps } from './identity.js';
import { missing, require, table, texts, wrong } from './fields.js';
import { type Breach, type Rule, show } from './rule.js';

const section = '`LINKS`';

/** Rules on LINKS. */
export const linkRules: readonly Rule[] = [
  {
    id: 'CT-96',
    slug: 'links',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'This is a toml file mapping sha256s to a list of URLs' },
    title: 'LINKS is TOML with a table urls',
    check: ({ links, documents }) =>
      documents.links.kind === 'broken'
        ? [toBreach(documents.links.finding)]
        : links.kind === 'read'
          ? require(links, rootOf(links), 'urls', table)
          : [],
  },
  {
    id: 'CT-97',
    slug: 'links-version',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'version = 1' },
    title: 'version is 1',
    check: ({ links }) => {
      const found = links.table['version'];
      if (links.kind !== 'read' || found === 1n) return [];
      return found === undefined
        ? [missing(links, rootOf(links), 'version', 'Write version = 1')]
        : [wrong(links, ['version'], found, 'the integer 1')];
    },
  },
  {
    id: 'CT-98',
    slug: 'links-hash',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'mapping sha256s' },
    title: 'the keys of urls are hashes of 64 hex digits in small letters',
    check: ({ links }) =>
      onUrls(links, ({ table: urls, path }) =>
        Object.keys(urls)
          .filter((key) => !/^[0-9a-f]{64}$/.test(key))
          .map((key) => ({
            where: links.at(...path, key),
            message: `Cannot use the key ${show(key)} of urls: expected 64 hex digits in small letters`,
            hint: 'Write the SHA-256 of the file',
          })),
      ),
  },
  {
    id: 'CT-99',
    slug: 'links-urls',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'to a list of URLs where that file can be fetched' },
    title: 'each hash has a list of at least one http or https URL (whether it serves the file, `carton links check` tells)',
    check: (context) => onUrls(context.links, (urls) => Object.keys(urls.table).flatMap((key) => judgeUrls(context, urls, key))),
  },
  {
    id: 'CT-100',
    slug: 'missing-member',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'If there are files in `MANIFEST` that are missing from the zip file, `LINKS` must contain them',
    },
    title: 'every listed file is in the carton or linked',
    check: findMissing,
  },
  {
    id: 'CT-101',
    slug: 'links-loader',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'The `LINKS` file is only visible to and used by the loader' },
    title: 'runners do not see LINKS',
    notCheckable: 'It asks something of programs; a runtime of modelport is given whole files',
  },
  {
    id: 'CT-102',
    slug: 'links-listed',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'the `LINKS` file should **NOT** be included in the manifest' },
    title: 'MANIFEST does not list LINKS',
    check: ({ manifest }) =>
      (manifest?.lines ?? [])
        .filter(({ path }) => path === linksName)
        .map(({ line }) => ({
          where: () => `${manifestName}:${line}:1`,
          message: `Cannot use line ${line} of MANIFEST: LINKS does not belong into it`,
          hint: 'Remove the line',
        })),
  },
  {
    id: 'CT-103',
    slug: 'links-model-hash',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'the existence or contents of `LINKS` does not affect the model hash of the carton' },
    title: 'the model hash does not depend on LINKS',
    notCheckable: 'It follows from what MANIFEST lists',
  },
  {
    id: 'CT-104',
    slug: 'links-compressed',
    level: 'error',
    clause: {
      document: 'carton-v1.md',
      section,
      quote: 'the files listed in `LINKS` may be compressed (identified by the `content-encoding` header of the response)',
    },
    title: 'a server may compress what it sends',
    notCheckable: 'It permits something to servers',
  },
  {
    id: 'CT-105',
    slug: 'links-encodings',
    level: 'warning',
    clause: { document: 'carton-v1.md', section, quote: 'Readers should support `zstd`, `gzip`, `br` (brotli), and `deflate` (deflate)' },
    title: 'readers know four encodings',
    notCheckable: 'It asks something of programs; modelport decodes all four',
  },
  {
    id: 'CT-106',
    slug: 'links-original',
    level: 'error',
    clause: { document: 'carton-v1.md', section, quote: 'The sha256 is of the original file - not the compressed one' },
    title: 'the hash is that of the decoded file',
    notCheckable: 'The file would have to be fetched; `run`, `unpack` and `verify --links` check it before a byte is used',
  },
  {
    id: 'CT-107',
    slug: 'unpacked',
    level: 'note',
    clause: { document: 'carton-v1.md', section: 'the end', quote: 'letting us load unpacked models just given those two pieces of info' },
    title: 'an unpacked model runs with the name of its runner and a version requirement',
    notCheckable: 'It asks something of programs; `run DIR --runner NAME --framework-version REQ` does it',
  },
];

/** Rules on LINKS and on links in the zip that come from practice. */
export const linkAdvice: readonly Rule[] = [
  {
    id: 'CT-A17',
    slug: 'links-http',
    level: 'warning',
    clause: { document: 'practice', section: 'LINKS', quote: 'http:// shows everybody on the way what is fetched' },
    title: 'links are https',
    check: ({ links }) =>
      onUrls(links, ({ table: urls, path }) =>
        Object.entries(urls).flatMap(([key, list]) =>
          Array.isArray(list)
            ? list.flatMap((url: unknown, at) =>
                typeof url === 'string' && /^http:\/\//i.test(url) ? [wrong(links, [...path, key, at], url, 'an https URL')] : [],
              )
            : [],
        ),
      ),
  },
  {
    id: 'CT-A18',
    slug: 'links-unused',
    level: 'note',
    clause: { document: 'practice', section: 'LINKS', quote: 'a link to a file of another model is never followed' },
    title: 'every linked hash is in MANIFEST',
    check: ({ links, manifest }) => {
      const known = new Set<string>(manifest?.digests.values());
      return onUrls(links, ({ table: urls, path }) =>
        Object.keys(urls)
          .filter((key) => manifest !== undefined && /^[0-9a-f]{64}$/.test(key) && !known.has(`sha256:${key}`))
          .map((key) => ({ where: links.at(...path, key), message: `No file of MANIFEST has the hash ${key}`, hint: 'Remove the link' })),
      );
    },
  },
  {
    id: 'CT-A19',
    slug: 'symlink',
    level: 'error',
    clause: { document: 'practice', section: 'members', quote: 'a link is relative and stays inside the carton; absolute ones and loops are errors' },
    title: 'every link leads to a file of the carton, one of model/ to one of model/',
    check: checkSymlinks,
  },
];

function onUrls(links: RuleContext['links'], check: (urls: Item) => Breach[]): Breach[] {
  const urls = childOf(rootOf(links), 'urls');
  return urls === undefined ? [] : check(urls);
}

function judgeUrls({ links }: RuleContext, { table: urls, path }: Item, key: string): Breach[] {
  const list = urls[key];
  if (list === undefined || !texts.fits(list) || !Array.isArray(list) || list.length === 0)
    return [wrong(links, [...path, key], list, 'a list of URLs, at least one')];
  return list.flatMap((url: unknown, at) => (isHttp(String(url)) ? [] : [wrong(links, [...path, key, at], url, 'a complete https URL')]));
}

function isHttp(url: string): boolean {
  return isHttps(url.replace(/^http:/i, 'https:'));
}

function findMissing(context: RuleContext): Breach[] {
  const { manifest, members, links } = context;
  const urls = childOf(rootOf(links), 'urls')?.table ?? {};
  return [...(manifest?.digests ?? [])]
    .filter(
      ([path, digest]) =>
        !members.has(path) && !members.has(path.trim()) && !unlisted.includes(path) && !Object.hasOwn(urls, digest.slice('sha256:'.length)),
    )
    .map(([path]) => ({
      where: memberPlace(path),
      message: `${show(path)} is listed in MANIFEST and is neither in the carton nor in LINKS`,
      hint: 'Pack the model again, or add a link',
    }));
}

function checkSymlinks(context: RuleContext): Breach[] {
  const { members, manifest, documents } = context;
  return [...members.values()].flatMap(({ path, kind }) => {
    if (kind !== 'symlink') return [];
    const found = resolveMember(documents.members, path);
    const reason =
      found.kind === 'broken'
        ? found.reason
        : found.kind === 'absent' && manifest?.digests.has(found.path) !== true
          ? `it leads to ${show(found.path)}, which is not in the carton`
          : topOf(found.path) === topOf(path)
            ? undefined
            : `it leads out of ${topOf(path)}/, to ${show(found.path)}`;
    return reason === undefined
      ? []
      : [{ where: memberPlace(path), message: `Cannot use the link ${show(path)}: ${reason}`, hint: 'Replace the link by the file it stands for' }];
  });
}

function topOf(path: string): string {
  return path.split('/', 1)[0] ?? '';
}

function toBreach({ message, where, hint }: { readonly message: string; readonly where?: string; readonly hint?: string }): Breach {
  return { where: () => where ?? linksName, message, hint: hint ?? 'Mend the place that it names' };
}
