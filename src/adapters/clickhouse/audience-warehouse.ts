import type { AudienceWarehouse } from '../../ports/audience-warehouse.ts';
import { countDead, purgeGenerations } from './audiences/purge-generations.ts';
import { countDevices } from './audiences/count-devices.ts';
import { countNewDevices } from './audiences/count-new-devices.ts';
import { countUploaded } from './audiences/count-uploaded.ts';
import { publishMembers } from './audiences/publish-members.ts';
import type { Engine } from './connect.ts';

export function clickhouseAudienceWarehouse(engine: Engine): AudienceWarehouse {
  return {
    countUploaded: (load, fileIds) => countUploaded(engine, load, fileIds),
    publish: (load, fileIds) => publishMembers(engine, load, fileIds),
    countDevices: (job, about) => countDevices(engine, job, about),
    countNewDevices: (job, loads) => countNewDevices(engine, job, loads),
    countDead: (generation) => countDead(engine, generation),
    purge: (generations, signal) => purgeGenerations(engine, generations, signal),
  };
}
