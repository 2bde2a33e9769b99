import type { AudienceWarehouse } from '../../ports/audience-warehouse.ts';
import { countDead, purgeGenerations } from './audiences/purge-generations.ts';
import { countDevices } from './audiences/count-devices.ts';
import { countUploaded } from './audiences/count-uploaded.ts';
import { publishMembers } from './audiences/publish-members.ts';
import type { Engine } from './connect.ts';

export function clickhouseAudienceWarehouse(engine: Engine): AudienceWarehouse {
  return {
    countUploaded: (loadId) => countUploaded(engine, loadId),
    publish: (load, fileIds) => publishMembers(engine, load, fileIds),
    countDevices: (job) => countDevices(engine, job),
    countDead: (generation) => countDead(engine, generation),
    purge: (partnerId, generations, signal) => purgeGenerations(engine, partnerId, generations, signal),
  };
}
