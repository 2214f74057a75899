import { isJsonObject, type JsonObject, type Limits } from '../core/index.js';
import { type Hints, known, noHints, toText, toTexts, unreadable } from './hints.js';
import { toSpdx } from './spdx.js';
import { parseYaml } from './yaml.js';

/** What a model hub's task says about inputs and outputs. */
const tasks: Readonly<Record<string, readonly [inputs: readonly string[], outputs: readonly string[]]>> = {
  'text-generation': [['text'], ['text']],
  'text2text-generation': [['text'], ['text']],
  'question-answering': [['text'], ['text']],
  summarization: [['text'], ['text']],
  translation: [['text'], ['text']],
  'fill-mask': [['text'], ['text']],
  'text-classification': [['text'], ['other']],
  'token-classification': [['text'], ['other']],
  'zero-shot-classification': [['text'], ['other']],
  'feature-extraction': [['text'], ['embedding']],
  'sentence-similarity': [['text'], ['embedding']],
  'image-feature-extraction': [['image'], ['embedding']],
  'image-classification': [['image'], ['other']],
  'object-detection': [['image'], ['other']],
  'image-segmentation': [['image'], ['image']],
  'depth-estimation': [['image'], ['image']],
  'image-to-image': [['image'], ['image']],
  'image-to-text': [['image'], ['text']],
  'image-text-to-text': [['image', 'text'], ['text']],
  'visual-question-answering': [['image', 'text'], ['text']],
  'text-to-image': [['text'], ['image']],
  'text-to-video': [['text'], ['video']],
  'text-to-speech': [['text'], ['audio']],
  'text-to-audio': [['text'], ['audio']],
  'automatic-speech-recognition': [['audio'], ['text']],
  'audio-classification': [['audio'], ['other']],
  'audio-to-audio': [['audio'], ['audio']],
  'video-classification': [['video'], ['other']],
};

const mostDescription = 400;

/** The first heading and paragraph stand within this many characters. */
const mostBody = 16 * 1024;

/** What of a README is looked at; the caller need not read more. */
export const readmeBytes = 256 * 1024;

/**
 * A README.md, model card or not: its YAML front matter (licence, languages, data sets, task, library), its first heading and first
 * paragraph. Never throws for what is in the text.
 */
export async function parseReadme(text: string, file: string, limits: Limits): Promise<Hints> {
  const start = text
    .slice(0, readmeBytes)
    .replace(/^\ufeff/, '')
    .replaceAll('\r\n', '\n');
  const front = /^---[ \t]*\n([^]*?)\n---[ \t]*(?:\n|$)/.exec(start);
  const body = start.slice(front?.[0].length ?? 0).slice(0, mostBody);
  const { card, findings } = await readFrontMatter(front?.[1], file, limits);
  const task = tasks[toText(card['pipeline_tag']) ?? ''];
  return {
    ...noHints,
    identity: known({
      name: toText(card['model_name']),
      title: findTitle(body),
      description: toText(card['description']) ?? findDescription(body),
      licenses: findLicenses(card),
      datasets: toTexts(card['datasets']),
    }),
    capabilities: known({
      inputTypes: task?.[0],
      outputTypes: task?.[1],
      languages: findLanguages(card),
    }),
    findings,
  };
}

/** The front matter stands after one line of `---`, which its line numbers count too. */
async function readFrontMatter(yaml: string | undefined, file: string, limits: Limits): Promise<{ card: JsonObject; findings: Hints['findings'] }> {
  if (yaml === undefined) return { card: {}, findings: [] };
  try {
    const { value } = await parseYaml(`\n${yaml}`, file, limits);
    return { card: isJsonObject(value) ? value : {}, findings: [] };
  } catch (cause) {
    return { card: {}, findings: [unreadable(file, cause, `The front matter of ${file}`)] };
  }
}

function findLicenses(card: JsonObject): readonly string[] | undefined {
  const named = toText(card['license_name']);
  const licenses = (toTexts(card['license']) ?? []).flatMap((tag) => toSpdx(tag) ?? (named === undefined ? [] : (toSpdx(named) ?? [])));
  return licenses.length === 0 ? undefined : [...new Set(licenses)];
}

/** `en`, but also `en-US` and `zho`; what has no two-letter form is left out. */
function findLanguages(card: JsonObject): readonly string[] | undefined {
  const languages = (toTexts(card['language']) ?? [])
    .map((language) => language.toLowerCase().split(/[-_]/)[0] ?? '')
    .filter((language) => /^[a-z]{2}$/.test(language));
  return languages.length === 0 ? undefined : [...new Set(languages)];
}

function findTitle(body: string): string | undefined {
  const heading = /^#[ \t]+(.+?)[ \t#]*$/m.exec(withoutCode(body))?.[1];
  return heading === undefined ? undefined : toText(stripMarkup(heading));
}

function findDescription(body: string): string | undefined {
  const paragraphs = withoutCode(body).split(/\n\s*\n/);
  const first = paragraphs.map(toProse).find((paragraph) => paragraph.length >= 20);
  if (first === undefined || first.length <= mostDescription) return first;
  return `${first.slice(0, first.lastIndexOf(' ', mostDescription - 1) + 1 || mostDescription).trimEnd()}…`;
}

/** A paragraph as one line of plain text; '' for headings, tables, lists, quotes, badges and HTML. */
function toProse(paragraph: string): string {
  const lines = paragraph.split('\n').filter((line) => !/^\s*(?:#|\||[-*+]\s|\d+\.\s|>|<|!\[|\[!\[|={3,}|-{3,})/.test(line));
  return stripMarkup(lines.join(' ')).replace(/\s+/g, ' ').trim();
}

function withoutCode(body: string): string {
  return body.replace(/^(```|~~~)[^]*?^\1[^\n]*$/gm, '').replace(/<!--[^]*?-->/g, '');
}

function stripMarkup(text: string): string {
  return text
    .replace(/!\[[^\]\n]*\]\([^)\n]*\)/g, '')
    .replace(/\[([^\]\n]*)\]\([^)\n]*\)/g, '$1')
    .replace(/<[^>\n]{0,200}>/g, '')
    .replace(/[*`]/g, '')
    .trim();
}
