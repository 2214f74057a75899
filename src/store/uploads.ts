import { randomBytes } from 'node:crypto';
import { type ByteCounters, createError, type UploadStore } from '../core/index.js';
import { judgeRepository } from './judge-repository.js';
import { UploadFile } from './upload-file.js';
import { countUploadFolders, makeUploadFolder, purgeUploadFolders, readUploadNote, toUploadFolder } from './upload-folder.js';

/** Uploads into a layout: a folder each, which an earlier or another process may have begun. */
export function createUploads(layout: string, counters: ByteCounters): UploadStore {
  const open = new Map<string, UploadFile>();
  const forget = (id: string) => {
    open.get(id)?.drop();
    open.delete(id);
  };
  const place = { layout, counters, forget };
  return {
    beginUpload: async (repository, algorithm) => {
      const folder = toUploadFolder(layout, randomBytes(16).toString('hex'));
      if (folder === undefined) throw createError('core/bug', { message: 'Cannot begin an upload: its id is none' });
      makeUploadFolder(folder, { repository: judgeRepository(repository), algorithm });
      const upload = new UploadFile(folder, { repository, algorithm }, place);
      open.set(upload.id, upload);
      return upload;
    },
    findUpload: async (id) => {
      const folder = toUploadFolder(layout, id);
      const note = folder === undefined ? undefined : readUploadNote(folder);
      if (folder === undefined || note === undefined) {
        forget(id);
        return undefined;
      }
      const upload = open.get(id) ?? new UploadFile(folder, note, place);
      open.set(id, upload);
      upload.refresh();
      return upload;
    },
    countUploads: () => countUploadFolders(layout),
    purgeUploads: async (ageMs) => {
      const { ids } = await purgeUploadFolders(layout, ageMs, { dryRun: false });
      for (const id of ids) forget(id);
      return ids.length;
    },
  };
}
