import { describe, expect, it } from 'vitest';
import { emptyDescription, type FileRules } from '../core/index.js';
import { classifyAll, type ClassifyContext, toFolderIgnore } from './classify-all.js';

const rules = (parts: Partial<FileRules>): FileRules => ({ ...emptyDescription.files, ...parts });

function roles(paths: readonly string[], parts: Partial<FileRules>, context?: ClassifyContext): Record<string, string> {
  const { files } = classifyAll(
    paths.map((path) => ({ path, size: 10, mode: 0o644 })),
    rules(parts),
    context,
  );
  return Object.fromEntries(files.map((file) => [file.path, `${file.role}${file.guessed ? '?' : ''}`]));
}

function findings(paths: readonly string[], parts: Partial<FileRules>, context?: ClassifyContext) {
  return classifyAll(
    paths.map((path) => ({ path, size: 10, mode: 0o644 })),
    rules(parts),
    context,
  ).findings;
}

describe('classifyAll', () => {
  it('guesses what is not named and leaves out what nobody wants', () => {
    const left = [
      '.git/config',
      'a/.hidden',
      '__pycache__/x.pyc',
      'x.pyc',
      'node_modules/m/index.js',
      '.venv/x',
      'modelport.toml',
      'Modelfile',
      'Kitfile',
      '.DS_Store',
      'x.tmp',
      'x~',
    ];
    expect(roles([...left, 'model.onnx', 'README.md', 'sub/Modelfile'], {})).toEqual({
      'model.onnx': 'weights?',
      'README.md': 'doc?',
      'sub/Modelfile': 'other?',
    });
  });

  it('takes what self tests name for tests, unless a rule says another thing', () => {
    const testTensors = new Set(['examples/one/x.npy', 'data/y.npy', 'named.npy']);
    expect(roles([...testTensors, 'other.npy'], { byRole: { dataset: ['named.npy'] } }, { testTensors })).toEqual({
      'examples/one/x.npy': 'test',
      'data/y.npy': 'test',
      'named.npy': 'dataset',
      'other.npy': 'weights?',
    });
  });

  it('gives named files their role, the first pattern in the order written', () => {
    const byRole = { code: ['src/**'], weights: ['**/*.bin'] };
    expect(roles(['src/a.bin', 'b.bin', 'c.md'], { byRole })).toEqual({ 'src/a.bin': 'code', 'b.bin': 'weights', 'c.md': 'doc?' });
  });

  it('lets an exact name beat a pattern', () => {
    expect(roles(['a.bin', 'vocab.bin'], { byRole: { weights: ['*.bin'], tokenizer: ['./vocab.bin'] } })).toEqual({
      'a.bin': 'weights',
      'vocab.bin': 'tokenizer',
    });
  });

  it('takes a folder for everything below it', () => {
    expect(roles(['data/a', 'data/deep/b', 'data/.hidden', 'database'], { byRole: { dataset: ['data/'] }, onlyNamed: true })).toEqual({
      'data/a': 'dataset',
      'data/deep/b': 'dataset',
    });
    expect(roles(['a', 'b/c', '.git/x'], { byRole: { weights: ['.'] }, onlyNamed: true })).toEqual({ a: 'weights', 'b/c': 'weights' });
  });

  it('packs hidden files that are named', () => {
    const byRole = { code: ['.hooks', '.env.example', '*'] };
    expect(roles(['.hooks/a.py', '.env.example', '.other', '.hooks/.x'], { byRole: { ...byRole } })).toEqual({
      '.hooks/a.py': 'code',
      '.env.example': 'code',
    });
  });

  it('ignores before all else', () => {
    const parts = { byRole: { doc: ['a.md'] }, ignore: ['*.md'] };
    expect(roles(['a.md', 'b.md', 'c.txt'], parts)).toEqual({ 'c.txt': 'doc?' });
    expect(findings(['a.md'], parts)).toMatchObject([{ code: 'buildfile/no-match', hint: '[files].ignore takes out "a.md"' }]);
  });

  it('packs only what is named, where that was said', () => {
    expect(roles(['a.bin', 'b.bin'], { byRole: { weights: ['a.bin'] }, onlyNamed: true })).toEqual({ 'a.bin': 'weights' });
  });

  it('takes external data for weights', () => {
    const externalData = new Set(['blob']);
    expect(roles(['blob', 'other'], {}, { externalData })).toEqual({ blob: 'weights?', other: 'other?' });
    expect(findings(['blob'], { onlyNamed: true }, { externalData })).toMatchObject([
      { level: 'error', code: 'buildfile/external-data', where: 'blob' },
    ]);
  });

  it('reports a pattern that matches nothing, where it was written', () => {
    expect(
      findings(['model.onnx'], { byRole: { weights: ['model.onx'], doc: ['*.md'] } }, { findGlobPlace: (glob) => `m.toml:1:${glob.length}` }),
    ).toMatchObject([
      { level: 'error', code: 'buildfile/no-match', where: 'm.toml:1:9', hint: 'Did you mean "model.onnx"?' },
      { level: 'error', code: 'buildfile/no-match', where: 'm.toml:1:4' },
    ]);
  });

  it('says when a pattern matches only what is ignored', () => {
    expect(findings(['.x.md'], { byRole: { doc: ['.x*'] } })[0]?.hint).toBe('".x.md" is left out unless it is named exactly');
  });

  it('does not blame a pattern whose files an earlier one took', () => {
    expect(findings(['a.bin'], { byRole: { weights: ['*.bin'], other: ['a*'] } })).toEqual([]);
  });

  it('reports a file named under two roles', () => {
    expect(findings(['a.bin'], { byRole: { weights: ['a.bin'], code: ['./a.bin'] } })).toMatchObject([
      { level: 'error', code: 'buildfile/named-twice', message: 'Cannot use "a.bin" as code: it is named as weights already' },
    ]);
  });

  it('keeps up with many files', () => {
    const paths = Array.from({ length: 200_000 }, (_, index) => `folder-${index % 100}/file-${index}.bin`);
    const start = performance.now();
    expect(
      classifyAll(
        paths.map((path) => ({ path, size: 10, mode: 0 })),
        rules({ byRole: { weights: ['**/*.bin'], doc: ['**/*.md', 'docs/**'] } }),
      ).files,
    ).toHaveLength(paths.length);
    expect(performance.now() - start).toBeLessThan(5000);
  });
});

it('toFolderIgnore spares the walk what cannot be packed', () => {
  const isIgnored = toFolderIgnore(rules({ byRole: { code: ['.hooks/a.py', '.all'] }, ignore: ['checkpoints', '*.x'] }));
  const ignored = ['.git', 'a/__pycache__', 'checkpoints', '.hooks', '.all', '.all/deep', '.all/.git', 'src'].filter((folder) =>
    isIgnored(folder, true),
  );
  expect(ignored).toEqual(['.git', 'a/__pycache__', 'checkpoints', '.all/.git']);
  expect(isIgnored('.git', false)).toBe(false);
});
