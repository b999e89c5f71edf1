/**
 * Detects files whose bytes changed: block checksums in sidecar files, verification of whole stores by every checksum,
 * and verification of what a loader reads.
 */
package io.penstock.store.integrity;
