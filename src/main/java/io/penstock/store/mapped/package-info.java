/**
 * What the formats share: runs of tokens in mapped files, the layouts of their numbers, checksums and fingerprints,
 * and files that appear whole or not at all. Internal to the stores: not exported.
 */
package io.penstock.store.mapped;
