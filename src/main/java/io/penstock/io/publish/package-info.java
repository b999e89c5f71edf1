/**
 * Files that appear whole or not at all: written under a temporary name, synced, and renamed.
 */
package io.penstock.io.publish;
