import { attachmentCases, versionCases } from './contract-cases-attachments.ts';
import { serverCases } from './contract-cases-compute.ts';
import { flavorCases } from './contract-cases-flavors.ts';
import { identityCases, projectCases } from './contract-cases-identity.ts';
import { imageCases } from './contract-cases-image.ts';
import { networkCases } from './contract-cases-network.ts';
import { serverListCases } from './contract-cases-server-lists.ts';
import { volumeCases } from './contract-cases-volume.ts';
import type { Cases } from './contract-step.ts';

/** What the project relies on from OpenStack, and something beyond that. */
export const groups: Record<string, Cases> = {
  identity: identityCases,
  projects: projectCases,
  flavors: flavorCases,
  networks: networkCases,
  volumes: volumeCases,
  images: imageCases,
  servers: { ...serverCases, ...serverListCases },
  attachments: attachmentCases,
  versions: versionCases,
};
