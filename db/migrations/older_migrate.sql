-- Makes a file of versions 1 to 3 one of version 5, after db/migrations/older_views.sql: views follow the tables that are renamed.
-- The statements of db/schema.sql run at the line of dashes.

DROP INDEX op_current;
DROP INDEX tuned_code;
ALTER TABLE main.device RENAME TO older_device;
ALTER TABLE main.provenance RENAME TO older_provenance;
ALTER TABLE main.op RENAME TO older_op;
ALTER TABLE main.problem RENAME TO older_problem;
ALTER TABLE main.measurement RENAME TO older_measurement;
ALTER TABLE main.code RENAME TO older_code;
ALTER TABLE main.tuned RENAME TO older_tuned;
ALTER TABLE main.wanted RENAME TO older_wanted; -- 2

----------------------------------------------------------------

INSERT INTO device SELECT * FROM older_device;
INSERT INTO provenance SELECT * FROM older_provenance;
INSERT INTO op SELECT * FROM newest_op;
INSERT INTO problem SELECT * FROM older_problem;
INSERT INTO measurement SELECT * FROM newest_measurement;
INSERT INTO code SELECT * FROM newest_code;
INSERT INTO tuned SELECT * FROM newest_tuned;
INSERT INTO wanted SELECT * FROM older_wanted; -- 2

DROP VIEW newest_tuned;
DROP VIEW newest_measurement;
DROP VIEW newest_wanted; -- <2
DROP VIEW newest_code;
DROP VIEW newest_op;
DROP VIEW tuned_of_op;
DROP VIEW packed_op;
DROP TABLE older_words;
DROP TABLE op_axis;
DROP TABLE op_type;
DROP TABLE op_binding;
DROP TABLE op_variant; -- 3
DROP TABLE op_extent;
DROP TABLE op_arg;
DROP TABLE tuned_param;
DROP TABLE tuned_launch_arg;
DROP TABLE tuned_launch;
DROP TABLE tuned_where;
DROP TABLE tuned_workspace;
DROP TABLE tuned_need;
DROP TABLE tuned_clear;
DROP TABLE older_wanted; -- 2
DROP TABLE older_tuned;
DROP TABLE older_code;
DROP TABLE older_measurement;
DROP TABLE older_problem;
DROP TABLE older_op;
DROP TABLE older_provenance;
DROP TABLE older_device;
