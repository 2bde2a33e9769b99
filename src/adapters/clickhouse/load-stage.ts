import type { LoadStage } from '../../ports/load-stage.ts';
import type { Engine } from './connect.ts';
import { dropLoad, dropStages, listStaged } from './drop-stage.ts';
import { countRows, listRejects, readSoFar } from './load-results.ts';
import { stageLoad, stageTogether } from './stage-load.ts';

/** `roomBytes`: loads from this size on are staged in tables of their own. */
export function clickhouseLoadStage(engine: Engine, roomBytes: number): LoadStage {
  return {
    stage: (load, file, maxLineBytes, signal) => stageLoad(engine, load, file, { maxLineBytes, roomBytes }, signal),
    stageTogether: (load, files, maxLineBytes, signal) =>
      stageTogether(engine, load, files, { maxLineBytes, roomBytes }, signal),
    readSoFar: (load) => readSoFar(engine, load),
    countRows: (loadId) => countRows(engine, loadId),
    listRejects: (page) => listRejects(engine, page),
    dropStages: (loadIds) => dropStages(engine, loadIds),
    dropLoad: (loadId) => dropLoad(engine, loadId),
    listStaged: () => listStaged(engine),
  };
}
