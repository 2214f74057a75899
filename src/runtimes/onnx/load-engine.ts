import { createRequire } from 'node:module';
import { join } from 'node:path';
import { isJsonObject } from '../../core/index.js';
import { oldestEngine, type OnnxEngine } from './engine.js';
import { toEngineWords } from './engine-words.js';
import { engineName } from './find-engine.js';
import { GraphFailure } from './graph-failure.js';

const loaded = new Map<string, OnnxEngine>();

/**
 * The engine in `folder`, loaded once a process and never unloaded. Unless it `talks`, its own words on stderr are turned off: what it has to
 * say, its errors say. Throws a GraphFailure where it does not load, as without the part for this system.
 */
export function loadEngine(folder: string, talks: boolean): OnnxEngine {
  const known = loaded.get(folder);
  if (known !== undefined) return known;
  const engine = parseEngine(requireEngine(folder), folder);
  if (!talks) engine.env.logLevel = 'fatal';
  loaded.set(folder, engine);
  return engine;
}

function requireEngine(folder: string): unknown {
  try {
    return createRequire(join(folder, 'package.json'))(folder) as unknown;
  } catch (error) {
    const hint = `install it again for this system (${process.platform}, ${process.arch})`;
    throw new GraphFailure('missing', `${engineName} in ${JSON.stringify(folder)} does not load: ${toEngineWords(error)}`, hint);
  }
}

function parseEngine(module: unknown, folder: string): OnnxEngine {
  const parts = ['Tensor', 'InferenceSession', 'listSupportedBackends'];
  const missing = parts.filter((part) => !isJsonObject(module) || typeof module[part] !== 'function');
  if (missing.length === 0) return module as OnnxEngine;
  throw new GraphFailure(
    'missing',
    `${engineName} in ${JSON.stringify(folder)} has no ${missing.join(', ')}`,
    `install release ${oldestEngine} or newer`,
  );
}
